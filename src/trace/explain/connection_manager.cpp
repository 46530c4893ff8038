// Connections that were not established, from the connection manager's messages.
#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

class ConnectionManager {
  public:
    ConnectionManager(const Whole& whole, Causes& causes) : whole_(whole), causes_(causes) {}

    void explain() {
        sort();
        for (const CmSeen& message : whole_.traffic.cm()) {
            if (message.attribute == wire::CmAttribute::ConnectReject && !gives_up(message))
                rejected(message);
            if (message.attribute == wire::CmAttribute::ServiceIdResReqResp && message.reason != 0)
                rejected(message);
        }
        unanswered();
        if (causes_.empty())
            events();
        if (causes_.empty())
            repeated();
    }

  private:
    // The requester itself reports that it stopped waiting.
    static bool gives_up(const CmSeen& reject) {
        constexpr std::uint16_t timeout = 4;
        return reject.reason == timeout && reject.remote_id == 0;
    }

    static bool asks(const CmSeen& message) {
        return message.attribute == wire::CmAttribute::ConnectRequest ||
               message.attribute == wire::CmAttribute::ServiceIdResReq ||
               message.attribute == wire::CmAttribute::ConnectReply ||
               message.attribute == wire::CmAttribute::DisconnectRequest;
    }

    static bool agrees(const CmSeen& message) {
        return message.attribute == wire::CmAttribute::ConnectReply ||
               (message.attribute == wire::CmAttribute::ServiceIdResReqResp && message.reason == 0);
    }

    std::string where_of(const CmSeen& request) const {
        std::string where =
            fmt::format("{} → {}", whole_.logs.name_of(request.from, request.network),
                        whole_.logs.name_of(request.to, request.network));
        if (request.port != 0)
            where += fmt::format(", port {}", request.port);
        return where;
    }

    Cause& add(Code code, Certainty certainty, std::string text, std::string where) {
        return add_fatal(causes_, code, certainty, std::move(text), std::move(where));
    }

    // Identifies what one end sent with one of its communication IDs.
    using Id =
        std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t>;
    static Id id_of(const flow::Host& from, const flow::Host& to, std::uint32_t comm_id) {
        return {from.high, from.low, to.high, to.low, comm_id};
    }
    struct Question {
        const CmSeen* first = nullptr;
        const CmSeen* last = nullptr;
        std::size_t copies = 0;
        const CmSeen* receipt =
            nullptr;  // the kernel acknowledges receipt; the program may not accept it
        const CmSeen* accepted = nullptr;  // the last one that agrees
        bool has_answer = false;
        bool was_accepted_before = false;  // when it was sent again

        // The responder agreed, and the requester asked again and got no other answer.
        bool is_acceptance_lost() const {
            return accepted != nullptr && last->frame > accepted->frame;
        }
    };

    // A ConnectReply is also a request: it asks for ReadyToUse.
    void sort() {
        for (const CmSeen& message : whole_.traffic.cm()) {
            if (asks(message)) {
                auto& by_kind = questions_[id_of(message.from, message.to, message.local_id)];
                Question& question = by_kind[message.attribute];
                question.first = question.first == nullptr ? &message : question.first;
                question.last = &message;
                question.was_accepted_before |= question.accepted != nullptr;
                ++question.copies;
            }
            const auto asked = questions_.find(id_of(message.to, message.from, message.remote_id));
            if (asked == questions_.end())
                continue;
            for (auto& [kind, question] : asked->second) {
                if (message.attribute == wire::CmAttribute::MsgRcptAck)
                    question.receipt = question.receipt == nullptr ? &message : question.receipt;
                else
                    question.has_answer = true;
                if (agrees(message))
                    question.accepted = &message;
            }
        }
    }

    const Question* question_of(const CmSeen& answer) const {
        const auto asked = questions_.find(id_of(answer.to, answer.from, answer.remote_id));
        return asked == questions_.end() || asked->second.empty() ? nullptr
                                                                  : &asked->second.begin()->second;
    }

    void rejected(const CmSeen& reject) {
        const Question* question = question_of(reject);
        const std::string who = spoken(whole_.logs.name_of(reject.from, reject.network));
        if (question != nullptr && question->is_acceptance_lost() &&
            reject.attribute == wire::CmAttribute::ServiceIdResReqResp)
            return;  // see acceptance_lost()
        if (question != nullptr && came_late(*question, reject)) {
            Cause& cause = add(
                Code::CmNoAnswer, Certainty::Likely,
                fmt::format("{} did not respond to the request for {:.1f} s and then rejected "
                            "it: the program did not handle its connection events before it ended.",
                            who, static_cast<double>(reject.t_ns - question->first->t_ns) / 1e9),
                where_of(*question->first));
            cause.add(evidence(*question->first));
            cause.add(evidence(reject));
            return;
        }
        Cause& cause = add(Code::CmRejected, Certainty::Certain,
                           fmt::format("{} rejected the connection: {}.", who, reason_of(reject)),
                           where_of(question == nullptr ? reject : *question->first));
        if (question != nullptr)
            cause.add(evidence(*question->first));
        cause.add(evidence(reject));
        if (question != nullptr)
            add_offer(*question->first, reject, cause);
        cause.try_this = advice_for(reject);
        if (const runlog::Event* event = event_with("REJECTED"))
            cause.add(evidence(*event));
    }

    // The values of the request that the service refused.
    static void add_offer(const CmSeen& request, const CmSeen& reject, Cause& cause) {
        if (reject.service.empty() || !request.initiator_depth || !request.responder_resources)
            return;
        cause.text.pop_back();
        cause.text += fmt::format(
            ": {}. The request has initiator depth {} and responder "
            "resources {}.",
            reject.service, *request.initiator_depth, *request.responder_resources);
    }

    // IBTA volume 1, 12.6.7.2. Empty: that of the code.
    static std::string advice_for(const CmSeen& reject) {
        if (reject.attribute != wire::CmAttribute::ConnectReject)
            return {};
        switch (reject.reason) {
            case 8:
                return "Start the server, and compare its port and port space (RDMA_PS_TCP) with "
                       "those of rdma_connect.";
            case 10:
                return "The responder still has a connection of this queue pair: destroy the old "
                       "one, or wait for its timewait to end.";
            case consumer_reject:
                if (!reject.service.empty())
                    return "Set the value that the service refused (rdma_connect: initiator_depth, "
                           "responder_resources, private_data).";
                return "Look at the responder's log for the reason: it called rdma_reject, or its "
                       "rdma_accept failed. The private data of the REJ may say why.";
            default:
                return {};
        }
    }

    // When a program ends, the kernel rejects the requests that it has not accepted.
    static bool came_late(const Question& question, const CmSeen& reject) {
        constexpr std::int64_t late_ns = 3'000'000'000;
        return reject.reason == consumer_reject && question.copies > 1 &&
               reject.t_ns - question.first->t_ns > late_ns;
    }

    static std::string reason_of(const CmSeen& reject) {
        constexpr std::uint16_t invalid_service = 8;
        const std::size_t at = reject.text.rfind(": ");
        std::string reason = at == std::string::npos ? "no reason" : reject.text.substr(at + 2);
        if (reject.attribute == wire::CmAttribute::ConnectReject) {
            if (reject.reason == invalid_service)
                reason += " (no program listens on this port)";
            if (reject.reason == consumer_reject)
                reason += " (the program refused it)";
        }
        return reason;
    }

    void unanswered() {
        const runlog::Event* event = event_with("UNREACHABLE");
        for (const auto& [id, by_kind] : questions_)
            for (const auto& [kind, question] : by_kind)
                if (kind == wire::CmAttribute::ServiceIdResReq && question.is_acceptance_lost())
                    acceptance_lost(question);
                else if (kind != wire::CmAttribute::DisconnectRequest && !question.has_answer &&
                         (question.copies > 1 || event != nullptr ||
                          dropped_of(*question.first) != nullptr) &&
                         !was_used(*question.first))
                    unanswered(question, event);
    }

    void acceptance_lost(const Question& question) {
        Cause& cause = add(Code::CmNoAnswer, Certainty::Likely,
                           fmt::format("{} was sent {} times although a response was captured: "
                                       "the response does not reach the requester.",
                                       wire::name(question.first->attribute), question.copies),
                           where_of(*question.first));
        cause.add(evidence(*question.first));
        cause.add(evidence(*question.accepted));
        cause.add(evidence(*question.last));
    }

    // Connections that were established after a message had been sent again.
    void repeated() {
        for (const auto& [id, by_kind] : questions_)
            for (const auto& [kind, question] : by_kind) {
                // A program may need a long time to accept a ConnectRequest.
                const bool was_answered =
                    kind == wire::CmAttribute::ConnectReply || question.was_accepted_before;
                if (kind == wire::CmAttribute::DisconnectRequest || !question.has_answer ||
                    question.copies < 2 || question.receipt != nullptr || !was_answered)
                    continue;
                const std::int64_t cost = question.last->t_ns - question.first->t_ns;
                Cause cause{.code = Code::Loss,
                            .certainty = Certainty::Likely,
                            .text = fmt::format("{} was sent {} times in {:.1f} s until the "
                                                "connection was established: the first one or its "
                                                "response was lost.",
                                                wire::name(kind), question.copies,
                                                static_cast<double>(cost) / 1e9),
                            .evidence = {},
                            .where = where_of(*question.first),
                            .cost_ns = cost};
                cause.add(evidence(*question.first));
                cause.add(evidence(*question.last));
                causes_.push_back(std::move(cause));
            }
    }

    void unanswered(const Question& question, const runlog::Event* event) {
        const CmSeen& first = *question.first;
        const std::string_view name = wire::name(first.attribute);
        constexpr std::uint16_t everyone = 0x7fff;
        if ((first.bth_p_key & everyone) != everyone) {
            add(Code::WrongPKey, Certainty::Likely,
                fmt::format("there is no response to the {}, whose packet has P_Key {:#06x}. The "
                            "default partition is 0xffff.",
                            name, first.bth_p_key),
                where_of(first))
                .add(evidence(first));
            return;
        }
        const Dropped* dropped = dropped_of(first);
        Cause& cause = add(
            Code::CmNoAnswer, Certainty::Certain,
            fmt::format("{} was sent {} times, and there is no response{}.", name, question.copies,
                        question.receipt != nullptr
                            ? ": it arrived (MsgRcptAck), and no program accepted it"
                        : dropped != nullptr
                            ? fmt::format(": {} dropped it and reported this",
                                          whole_.logs.name_of(dropped->by, dropped->network))
                            : ""),
            where_of(first));
        cause.add(evidence(first));
        if (dropped != nullptr)
            cause.add(evidence(*dropped));
        if (question.receipt != nullptr)
            cause.add(evidence(*question.receipt));
        if (question.copies > 1)
            cause.add(evidence(*question.last));
        if (event != nullptr)
            cause.add(evidence(*event));
    }

    // The report of a router or the peer's host (ICMP).
    const Dropped* dropped_of(const CmSeen& first) const {
        const auto& all = whole_.traffic.dropped();
        const auto found = std::ranges::find_if(all, [&](const Dropped& one) {
            return one.src == first.from && one.dst == first.to && one.frame > first.frame;
        });
        return found == all.end() ? nullptr : &*found;
    }

    // Requests on the new connection are equivalent to ReadyToUse.
    bool was_used(const CmSeen& reply) const {
        return reply.attribute == wire::CmAttribute::ConnectReply &&
               std::ranges::any_of(whole_.traffic.streams(), [&](const KeptStream& stream) {
                   return stream.key.src == reply.to && stream.key.dst == reply.from &&
                          stream.key.dest_qpn == reply.qpn;
               });
    }

    const runlog::Event* event_with(std::string_view type) const {
        const auto& notices = whole_.logs.notices();
        const auto found = std::ranges::find_if(notices, [&](const runlog::Event& event) {
            return event.is("cm_event") && event[key::cm_type] == type;
        });
        return found == notices.end() ? nullptr : &*found;
    }

    // Without captured messages: uses the events that the program received.
    void events() {
        for (const auto& [type, code, text] :
             {std::tuple{"REJECTED", Code::CmRejected, "the peer rejected the connection."},
              {"UNREACHABLE", Code::CmNoAnswer, "the peer did not respond to the ConnectRequest."},
              {"ADDR_ERROR", Code::WrongGid,
               "the address could not be resolved: no host has it, or no RDMA device leads to "
               "it."}})
            if (const runlog::Event* event = event_with(type))
                add(code, Certainty::Likely, text, event->role).add(evidence(*event));
        if (causes_.empty())
            waiting();
    }

    // rdma_connect was called, and no event reported the result.
    void waiting() {
        constexpr std::int64_t patience_ns = 1'000'000'000;
        const auto& notices = whole_.logs.notices();
        for (const runlog::Event& call : notices) {
            if (!call.is_one_of({"cm_call", "begun"}) || call[key::call] != "rdma_connect" ||
                whole_.logs.end_of(call.role) - call.t_ns < patience_ns)
                continue;
            const bool has_ended = std::ranges::any_of(notices, [&](const runlog::Event& event) {
                return event.is("cm_event") && event.role == call.role &&
                       event[key::id] == call[key::id] && event.t_ns > call.t_ns;
            });
            const auto qpn = call[key::qpn];
            const auto pairs =
                whole_.logs.find(call.role, static_cast<std::uint32_t>(qpn.value_or(0)));
            const bool is_connected = std::ranges::any_of(
                pairs, [](const auto* pair) { return pair->ready_ns.has_value(); });
            if (has_ended || is_connected)
                continue;
            Cause& cause = add(
                Code::CmNoAnswer, Certainty::Likely,
                fmt::format(
                    "the program called rdma_connect, and no event followed for {:.1f} s: there is "
                    "no response to the ConnectRequest.",
                    static_cast<double>(whole_.logs.end_of(call.role) - call.t_ns) / 1e9),
                call.role);
            cause.add(evidence(call));
            if (whole_.has_capture && whole_.traffic.cm().empty())
                cause.add(value(call.role, "the capture has no ConnectRequest"));
        }
    }

    static constexpr std::uint16_t consumer_reject = 28;

    const Whole& whole_;
    Causes& causes_;
    std::map<Id, std::map<wire::CmAttribute, Question>> questions_;
};

}  // namespace

void explain_connection_manager(const Whole& whole, Causes& causes) {
    Causes found;
    ConnectionManager(whole, found).explain();
    causes.insert(causes.end(), std::make_move_iterator(found.begin()),
                  std::make_move_iterator(found.end()));
}

}  // namespace explain

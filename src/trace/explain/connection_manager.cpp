// Connections that were not established, from the connection manager's messages.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "trace/explain/cm_questions.hpp"
#include "trace/explain/rejection.hpp"
#include "trace/explain/rules.hpp"

namespace explain {
namespace {

class ConnectionManager {
  public:
    ConnectionManager(const Whole& whole, const Listeners& listeners, Causes& causes)
        : whole_(whole), listeners_(listeners), causes_(causes) {}

    void explain() {
        for (const CmSeen& message : whole_.traffic.cm()) {
            if (message.attribute == wire::CmAttribute::ConnectReject && !gives_up(message))
                rejected(message);
            if (message.attribute == wire::CmAttribute::ServiceIdResReqResp && message.reason != 0)
                rejected(message);
        }
        unanswered();
    }

    // Connections that were established after a message had been sent again. The kernel of a program
    // that has a ConnectRequest and not accepted it yet responds to the second one (MsgRcptAck).
    void repeated() {
        for (const auto& [id, by_kind] : questions_.all())
            for (const auto& [kind, question] : by_kind) {
                const bool was_answered =
                    kind == wire::CmAttribute::ConnectReply || question.was_accepted_before;
                const bool is_accepted =
                    kind == wire::CmAttribute::ConnectRequest && question.accepted != nullptr;
                if (kind != wire::CmAttribute::DisconnectRequest && question.has_answer &&
                    question.copies >= 2 && question.receipt == nullptr &&
                    (was_answered || is_accepted))
                    repeated(kind, question, was_answered);
            }
    }

  private:
    // The requester itself reports that it stopped waiting.
    static bool gives_up(const CmSeen& reject) {
        constexpr std::uint16_t timeout = 4;
        return reject.reason == timeout && reject.remote_id == 0;
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

    void rejected(const CmSeen& reject) {
        const CmQuestion* question = questions_.question_of(reject);
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
        if (reject.attribute == wire::CmAttribute::ConnectReject && reject.service.empty() &&
            reject.reason == consumer_reject)
            listeners_.add_refusal(whole_.logs.role_at(reject.from), reject.t_ns,
                                   questions_.requests_to(reject.from), cause);
        if (const runlog::Event* event = whole_.logs.cm_event("REJECTED"))
            cause.add(evidence(*event));
    }

    // nullptr: another message, or the backlog had room or is not known.
    const runlog::Event* full_backlog_for(const CmSeen& request) const {
        return request.attribute == wire::CmAttribute::ConnectRequest
                   ? listeners_.full_backlog(whole_.logs.role_at(request.to), request.t_ns,
                                             questions_.requests_to(request.to, request.frame))
                   : nullptr;
    }

    static void blame(const runlog::Event& listens, Cause& cause) {
        cause.text += fmt::format(
            " The backlog of rdma_listen, {}, was full: as many requests waited for "
            "rdma_get_cm_event, and the kernel drops others without a response.",
            listens[key::backlog].value_or(0));
        cause.add(evidence(listens));
        cause.try_this =
            "Give rdma_listen a larger backlog, or take connection events sooner, in a thread that "
            "does nothing else.";
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

    static std::string advice_for(const CmSeen& reject) {
        if (reject.attribute != wire::CmAttribute::ConnectReject)
            return {};
        if (reject.reason == consumer_reject && !reject.service.empty())
            return "Set the value that the service refused (rdma_connect: initiator_depth, "
                   "responder_resources, private_data).";
        return advice_after_rejection(reject.reason);
    }

    // When a program ends, the kernel rejects the requests that it has not accepted.
    static bool came_late(const CmQuestion& question, const CmSeen& reject) {
        constexpr std::int64_t late_ns = 3'000'000'000;
        return reject.reason == consumer_reject && question.copies > 1 &&
               reject.t_ns - question.first->t_ns > late_ns;
    }

    static std::string reason_of(const CmSeen& reject) {
        if (reject.attribute == wire::CmAttribute::ConnectReject)
            return rejection_text(reject.reason);
        const std::size_t at = reject.text.rfind(": ");
        return at == std::string::npos ? "no reason" : reject.text.substr(at + 2);
    }

    void unanswered() {
        const runlog::Event* event = whole_.logs.cm_event("UNREACHABLE");
        for (const auto& [id, by_kind] : questions_.all())
            for (const auto& [kind, question] : by_kind)
                if (kind == wire::CmAttribute::ServiceIdResReq && question.is_acceptance_lost())
                    acceptance_lost(question);
                else if (kind != wire::CmAttribute::DisconnectRequest && !question.has_answer &&
                         (question.copies > 1 || event != nullptr ||
                          dropped_of(*question.first) != nullptr) &&
                         !was_used(*question.first))
                    unanswered(question, event);
    }

    void acceptance_lost(const CmQuestion& question) {
        Cause& cause = add(Code::CmNoAnswer, Certainty::Likely,
                           fmt::format("{} was sent {} times although a response was captured: "
                                       "the response does not reach the requester.",
                                       wire::name(question.first->attribute), question.copies),
                           where_of(*question.first));
        cause.add(evidence(*question.first));
        cause.add(evidence(*question.accepted));
        cause.add(evidence(*question.last));
    }

    void repeated(wire::CmAttribute kind, const CmQuestion& question, bool was_answered) {
        const runlog::Event* listens = full_backlog_for(*question.first);
        const bool is_backlog = listens != nullptr && !was_answered;
        const std::int64_t cost = question.last->t_ns - question.first->t_ns;
        Cause cause{
            .code = was_answered ? Code::Loss : Code::CmNoAnswer,
            .certainty = was_answered || is_backlog ? Certainty::Likely : Certainty::Possible,
            .text = fmt::format("{} was sent {} times in {:.1f} s until the "
                                "connection was established{}.",
                                wire::name(kind), question.copies, static_cast<double>(cost) / 1e9,
                                was_answered ? ": the first one or its response was lost"
                                : is_backlog ? ""
                                             : ": the first one was lost, or the listener's "
                                               "backlog was full"),
            .evidence = {},
            .where = where_of(*question.first),
            .cost_ns = cost};
        cause.add(evidence(*question.first));
        cause.add(evidence(*question.last));
        if (is_backlog)
            blame(*listens, cause);
        causes_.push_back(std::move(cause));
    }

    void unanswered(const CmQuestion& question, const runlog::Event* event) {
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
        if (const runlog::Event* listens = full_backlog_for(first))
            blame(*listens, cause);
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

    const Whole& whole_;
    const Listeners& listeners_;
    Causes& causes_;
    CmQuestions questions_{whole_.traffic.cm()};
};

}  // namespace

void explain_connection_manager(const Whole& whole, Causes& causes) {
    Causes found;
    const Listeners listeners(whole.logs);
    ConnectionManager messages(whole, listeners, found);
    messages.explain();
    if (found.empty())
        explain_connection_events(whole, listeners, found);
    if (found.empty())
        messages.repeated();
    causes.insert(causes.end(), std::make_move_iterator(found.begin()),
                  std::make_move_iterator(found.end()));
}

}  // namespace explain

// What the programs' own calls say, and the connection manager's messages.
#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

std::string where_of(const LoggedQueuePair& pair) {
    return fmt::format("{}, QP {:#08x}", pair.role, pair.qpn);
}

// Of a queue pair's direction, so that it stands with the other causes of it.
std::string where_of(const LoggedQueuePair& pair, const std::vector<Direction>& directions,
                     bool as_responder) {
    const auto found = std::ranges::find_if(directions, [&](const Direction& one) {
        return (as_responder ? one.responder : one.requester) == &pair;
    });
    return found == directions.end() ? where_of(pair) : found->where();
}

class Programs {
  public:
    Programs(const Whole& whole, const std::vector<Direction>& directions, Causes& causes)
        : whole_(whole), directions_(directions), causes_(causes) {}

    void explain() {
        for (const LoggedQueuePair& pair : whole_.logs.queue_pairs()) {
            for (const Completion& error : pair.errors)
                completion(pair, error);
            overrun(pair);
            datagrams(pair);
            no_reads(pair);
        }
        std::size_t refused = 0;
        for (const runlog::Event& event : whole_.logs.notices()) {
            if (event.name == "failed" && event.text("call").find("post") != std::string::npos &&
                event.text("error") == "ENOMEM" && ++refused == 1)
                full(event);
            if (event.name == "failed" && event.text("call") == "ibv_modify_qp")
                modify(event);
            if (event.name == "async" && event.text("type").find("CQ_ERR") != std::string::npos)
                cq_error(event);
        }
    }

  private:
    Cause& add(Code code, Certainty certainty, std::string text, std::string where) {
        causes_.push_back({.code = code,
                           .certainty = certainty,
                           .text = std::move(text),
                           .evidence = {},
                           .where = std::move(where),
                           .is_fatal = true});
        return causes_.back();
    }

    // The message that a receive of this responder was to take.
    const Direction* direction_to(const LoggedQueuePair& pair) const {
        const auto found = std::ranges::find_if(
            directions_, [&](const Direction& one) { return one.responder == &pair; });
        return found == directions_.end() ? nullptr : &*found;
    }

    void completion(const LoggedQueuePair& pair, const Completion& error) {
        const std::string where = where_of(pair, directions_, error.is_receive);
        const Post* post = error.post ? &*error.post : nullptr;
        if (error.status == "LOC_PROT_ERR") {
            Cause& cause =
                add(Code::LocalProtection, Certainty::Certain,
                    fmt::format("{} of {} used memory that its queue pair may not use.",
                                error.is_receive ? "a receive" : "a request", spoken(pair.role)),
                    where);
            if (post != nullptr)
                cause.add(evidence(pair, *post));
            cause.add(evidence(pair, error));
        } else if (error.status == "LOC_LEN_ERR" || error.is_receive) {
            length(pair, error, post, where);
        } else if (error.status == "LOC_QP_OP_ERR" && post != nullptr && post->length != 0) {
            Cause& cause = add(Code::LocalProtection, Certainty::Likely,
                               fmt::format("a request of {} failed before it was sent: Soft-RoCE "
                                           "reports memory that the queue pair may not use in "
                                           "this way.",
                                           spoken(pair.role)),
                               where);
            cause.add(evidence(pair, *post));
            cause.add(evidence(pair, error));
        }
    }

    // Bytes of the longest datagram that came, with the 40 bytes of the GRH; 0: none is known.
    std::uint64_t longest_datagram(const LoggedQueuePair& pair) const {
        constexpr std::uint64_t grh = 40;
        std::uint64_t longest = 0;
        for (const Direction& direction : directions_)
            if (direction.responder == &pair && direction.is_datagram())
                for (const Seen* one : direction.requests)
                    longest = std::max(longest, one->payload + grh);
        return longest;
    }

    void length(const LoggedQueuePair& pair, const Completion& error, const Post* post,
                const std::string& where) {
        if (error.is_receive) {
            const std::uint64_t number = error.request.value_or(pair.receive_lengths.size());
            const bool is_known = !pair.has_srq && number < pair.receive_lengths.size();
            const std::uint64_t room =
                is_known ? pair.receive_lengths[static_cast<std::size_t>(number)] : 0;
            if (error.status != "LOC_LEN_ERR" && (!is_known || longest_datagram(pair) <= room))
                return;
            add(Code::ReceiveTooSmall, Certainty::Certain,
                is_known ? fmt::format("a message is longer than the receive that it met, which "
                                       "has {} bytes.",
                                       room)
                         : std::string("a message is longer than the receive that it met."),
                where)
                .add(evidence(pair, error));
        } else if (!error.is_receive && error.status == "LOC_LEN_ERR") {
            Cause& cause = add(Code::LocalLength, Certainty::Certain,
                               fmt::format("a request of {} has a length that the queue pair "
                                           "cannot send.",
                                           spoken(pair.role)),
                               where);
            if (post != nullptr)
                cause.add(evidence(pair, *post));
            cause.add(evidence(pair, error));
        }
    }

    const LoggedQueuePair* pair_of(const runlog::Event& event) const {
        const auto& all = whole_.logs.queue_pairs();
        const auto found = std::find_if(all.rbegin(), all.rend(), [&](const auto& pair) {
            return pair.role == event.role && pair.qpn == event.number("qpn");
        });
        return found == all.rend() ? nullptr : &*found;
    }

    void full(const runlog::Event& event) {
        const LoggedQueuePair* pair = pair_of(event);
        const bool is_send = event.text("call").find("send") != std::string::npos;
        if (!is_send)
            return;
        Cause& cause =
            add(Code::SendQueueFull, Certainty::Certain,
                fmt::format("{} was refused with ENOMEM: the send queue had no free slot.",
                            event.text("call")),
                pair == nullptr ? event.role : where_of(*pair, directions_, false));
        cause.add(evidence(event));
        if (pair != nullptr && pair->max_send_wr != 0)
            cause.add(value(pair->role,
                            fmt::format("max_send_wr {}, {} requests posted, {} "
                                        "completions polled",
                                        pair->max_send_wr, pair->posts.size(), pair->sends_done)));
    }

    void modify(const runlog::Event& event) {
        constexpr auto unreachable =
            std::to_array<std::string_view>({"ENETUNREACH", "EHOSTUNREACH", "ETIMEDOUT", "ENODEV"});
        if (event.text("to") != "RTR")
            return;
        const LoggedQueuePair* pair = pair_of(event);
        const std::string where =
            pair == nullptr ? event.role : where_of(*pair, directions_, false);
        if (std::ranges::find(unreachable, event.text("error")) != unreachable.end()) {
            add(Code::WrongGid, Certainty::Likely,
                "the queue pair cannot reach the destination GID: no host has this address.", where)
                .add(evidence(event));
            return;
        }
        const std::string own = whole_.logs.gid_of(event.role, event.number("gid_index"));
        const auto source = host_of_gid(own);
        const auto peer = host_of_gid(event.text("dest_gid"));
        if (!source || !peer || is_ipv4(*source) == is_ipv4(*peer))
            return;
        Cause& cause =
            add(Code::WrongGid, Certainty::Certain,
                "the GID of the given index and the destination GID are of different families "
                "(IPv4 and IPv6).",
                where);
        cause.add(evidence(event));
        cause.add(value(event.role, "GID of this index: " + own));
    }

    static bool is_ipv4(const flow::Host& host) {
        return host.high == 0 && host.low >> 32U == 0xffffU;
    }

    void cq_error(const runlog::Event& event) {
        add(Code::CqOverrun, Certainty::Certain,
            "a completion queue had more completions than entries, and is broken.", event.role)
            .add(evidence(event));
    }

    // A queue pair that may have no READ outstanding never sends one.
    void no_reads(const LoggedQueuePair& pair) {
        const auto waiting = std::ranges::find_if(pair.posts, [](const Post& post) {
            return !post.is_done &&
                   (post.opcode == "RDMA_READ" || post.opcode.starts_with("ATOMIC"));
        });
        if (pair.max_rd_atomic != 0U || waiting == pair.posts.end())
            return;
        Cause& cause = add(Code::ReadDepth, Certainty::Certain,
                           fmt::format("{} may have no READ or atomic outstanding: it never sends "
                                       "the one that was posted.",
                                       pair.called()),
                           where_of(pair, directions_, false));
        cause.add(evidence(pair, *waiting));
        cause.add(value(pair.role, "max_rd_atomic 0"));
    }

    // One packet each: what is longer is not sent, and the sender need not be told.
    void datagrams(const LoggedQueuePair& pair) {
        const std::uint64_t most = whole_.logs.path_mtu_of(pair.role);
        if (!pair.is_datagram() || most == 0)
            return;
        const auto longer =
            std::ranges::find_if(pair.posts, [&](const Post& post) { return post.length > most; });
        if (longer == pair.posts.end())
            return;
        Cause& cause = add(Code::LocalLength, Certainty::Certain,
                           fmt::format("a datagram of {} bytes does not fit into one packet: the "
                                       "path MTU of the port is {}.",
                                       longer->length, most),
                           where_of(pair, directions_, false));
        cause.add(evidence(pair, *longer));
    }

    // More completions due than the queue holds, and none was polled after that.
    void overrun(const LoggedQueuePair& pair) {
        if (!pair.send_cq)
            return;
        const std::uint64_t entries = whole_.logs.entries_of(pair.role, *pair.send_cq);
        std::uint64_t due = 0;
        for (const Post& post : pair.posts)
            due += post.is_signaled && !post.is_done && !post.opcode.empty() ? 1 : 0;
        if (entries == 0 || due <= entries)
            return;
        Cause& cause =
            add(Code::CqOverrun, Certainty::Likely,
                fmt::format("{} signaled requests have no completion, and the completion queue "
                            "has {} entries.",
                            due, entries),
                where_of(pair, directions_, false));
        cause.add(value(
            pair.role, fmt::format("completion queue {} with {} entries", *pair.send_cq, entries)));
    }

    const Whole& whole_;
    const std::vector<Direction>& directions_;
    Causes& causes_;
};

class ConnectionManager {
  public:
    ConnectionManager(const Whole& whole, Causes& causes) : whole_(whole), causes_(causes) {}

    void explain() {
        for (const CmSeen& message : whole_.traffic.cm()) {
            if (message.attribute == wire::CmAttribute::ConnectReject && !gives_up(message))
                rejected(message);
            if (message.attribute == wire::CmAttribute::ServiceIdResReqResp && message.reason != 0)
                rejected(message);
        }
        unanswered();
        if (causes_.empty())
            events();
    }

  private:
    // Who asked tells that it waits no longer.
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

    std::string name_of(const flow::Host& host, flow::Network network) const {
        const auto found = whole_.logs.hosts().find(host);
        return found == whole_.logs.hosts().end() ? flow::text(host, network) : found->second;
    }

    std::string where_of(const CmSeen& request) const {
        std::string where = fmt::format("{} → {}", name_of(request.from, request.network),
                                        name_of(request.to, request.network));
        if (request.port != 0)
            where += fmt::format(", port {}", request.port);
        return where;
    }

    Cause& add(Code code, Certainty certainty, std::string text, std::string where) {
        causes_.push_back({.code = code,
                           .certainty = certainty,
                           .text = std::move(text),
                           .evidence = {},
                           .where = std::move(where),
                           .is_fatal = true});
        return causes_.back();
    }

    const CmSeen* request_of(const CmSeen& answer) const {
        const auto& cm = whole_.traffic.cm();
        const auto found = std::ranges::find_if(cm, [&](const CmSeen& one) {
            return asks(one) && one.from == answer.to && one.to == answer.from &&
                   one.local_id == answer.remote_id && one.frame < answer.frame;
        });
        return found == cm.end() ? nullptr : &*found;
    }

    void rejected(const CmSeen& reject) {
        const CmSeen* request = request_of(reject);
        if (request != nullptr && came_late(*request, reject)) {
            Cause& cause =
                add(Code::CmNoAnswer, Certainty::Likely,
                    fmt::format(
                        "{} did not respond to the request for {:.1f} s, and rejected it then: the "
                        "program did not look at its connection events, and ended.",
                        spoken(name_of(reject.from, reject.network)),
                        static_cast<double>(reject.t_ns - request->t_ns) / 1e9),
                    where_of(*request));
            cause.add(evidence(*request));
            cause.add(evidence(reject));
            return;
        }
        Cause& cause =
            add(Code::CmRejected, Certainty::Certain,
                fmt::format("{} rejected the connection: {}.",
                            spoken(name_of(reject.from, reject.network)), reason_of(reject)),
                request == nullptr ? where_of(reject) : where_of(*request));
        if (request != nullptr)
            cause.add(evidence(*request));
        cause.add(evidence(reject));
        add_events(cause);
    }

    // A program that ends leaves its requests to the kernel, which rejects them for it.
    bool came_late(const CmSeen& request, const CmSeen& reject) const {
        constexpr std::int64_t late_ns = 3'000'000'000;
        constexpr std::uint16_t consumer = 28;
        const auto copies = std::ranges::count_if(whole_.traffic.cm(), [&](const CmSeen& one) {
            return one.attribute == request.attribute && one.from == request.from &&
                   one.local_id == request.local_id;
        });
        return reject.reason == consumer && copies > 1 && reject.t_ns - request.t_ns > late_ns;
    }

    static std::string reason_of(const CmSeen& reject) {
        constexpr std::uint16_t invalid_service = 8;
        constexpr std::uint16_t consumer = 28;
        const std::size_t at = reject.text.rfind(": ");
        std::string reason = at == std::string::npos ? "no reason" : reject.text.substr(at + 2);
        if (reject.attribute == wire::CmAttribute::ConnectReject) {
            if (reject.reason == invalid_service)
                reason += " (no program listens on this port)";
            if (reject.reason == consumer)
                reason += " (the program refused it)";
        }
        return reason;
    }

    void unanswered() {
        struct Asked {
            const CmSeen* first = nullptr;
            const CmSeen* last = nullptr;
            std::size_t copies = 0;
        };
        std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint16_t>, Asked> all;
        for (const CmSeen& message : whole_.traffic.cm()) {
            if (!asks(message) || message.attribute == wire::CmAttribute::DisconnectRequest)
                continue;
            Asked& asked = all[{message.from.high, message.from.low, message.local_id,
                                static_cast<std::uint16_t>(message.attribute)}];
            asked.first = asked.first == nullptr ? &message : asked.first;
            asked.last = &message;
            ++asked.copies;
        }
        for (const auto& [key, asked] : all) {
            const CmSeen& first = *asked.first;
            const auto answers = [&](const CmSeen& one) {
                return one.from == first.to && one.to == first.from &&
                       one.remote_id == first.local_id && one.frame > first.frame;
            };
            const auto& cm = whole_.traffic.cm();
            const bool has_answer = std::ranges::any_of(cm, [&](const CmSeen& one) {
                return answers(one) && one.attribute != wire::CmAttribute::MsgRcptAck;
            });
            // The kernel's word that the request came, where the program does not take it.
            const auto receipt = std::ranges::find_if(cm, answers);
            const runlog::Event* event = event_with("UNREACHABLE");
            if (has_answer || was_used(first) || (asked.copies < 2 && event == nullptr))
                continue;
            constexpr std::uint16_t everyone = 0x7fff;
            if ((first.bth_p_key & everyone) != everyone) {
                add(Code::WrongPKey, Certainty::Likely,
                    fmt::format(
                        "there is no response to the {}, whose packet has P_Key {:#06x}: not that "
                        "of the default partition (0xffff).",
                        first.text.substr(3, first.text.find("  ") - 3), first.bth_p_key),
                    where_of(first))
                    .add(evidence(first));
                continue;
            }
            Cause& cause =
                add(Code::CmNoAnswer, Certainty::Certain,
                    fmt::format("{} was sent {} times, and there is no response{}.",
                                first.text.substr(0, first.text.find("  ")), asked.copies,
                                receipt == cm.end()
                                    ? ""
                                    : ": it arrived (MsgRcptAck), and no program accepted it"),
                    where_of(first));
            cause.add(evidence(first));
            if (receipt != cm.end())
                cause.add(evidence(*receipt));
            if (asked.copies > 1)
                cause.add(evidence(*asked.last));
            if (event != nullptr)
                cause.add(evidence(*event));
        }
    }

    // A request that follows a reply is as good as ReadyToUse.
    bool was_used(const CmSeen& reply) const {
        return reply.attribute == wire::CmAttribute::ConnectReply &&
               std::ranges::any_of(whole_.traffic.streams(), [&](const Stream& stream) {
                   return stream.key.src == reply.to && stream.key.dst == reply.from &&
                          stream.key.dest_qpn == reply.qpn;
               });
    }

    const runlog::Event* event_with(std::string_view type) const {
        const auto& notices = whole_.logs.notices();
        const auto found = std::ranges::find_if(notices, [&](const runlog::Event& event) {
            return event.name == "cm_event" && event.text("type") == type;
        });
        return found == notices.end() ? nullptr : &*found;
    }

    void add_events(Cause& cause) const {
        if (const runlog::Event* event = event_with("REJECTED"))
            cause.add(evidence(*event));
    }

    // Without the messages: what the program was told.
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

    // rdma_connect was called, and no event tells how it ended.
    void waiting() {
        constexpr std::int64_t patience_ns = 1'000'000'000;
        const auto& notices = whole_.logs.notices();
        for (const runlog::Event& call : notices) {
            if (call.name != "cm_call" || call.text("call") != "rdma_connect" ||
                whole_.logs.end_of(call.role) - call.t_ns < patience_ns)
                continue;
            const bool has_ended = std::ranges::any_of(notices, [&](const runlog::Event& event) {
                return event.name == "cm_event" && event.role == call.role &&
                       event.number("id") == call.number("id") && event.t_ns > call.t_ns;
            });
            const auto qpn = call.number("qpn");
            const auto pairs =
                whole_.logs.find(call.role, static_cast<std::uint32_t>(qpn.value_or(0)));
            const bool is_connected = std::ranges::any_of(
                pairs, [](const auto* pair) { return pair->ready_ns.has_value(); });
            if (has_ended || is_connected)
                continue;
            Cause& cause = add(
                Code::CmNoAnswer, Certainty::Likely,
                fmt::format("rdma_connect was called, and no event came for {:.1f} s: there is no "
                            "response to the ConnectRequest.",
                            static_cast<double>(whole_.logs.end_of(call.role) - call.t_ns) / 1e9),
                call.role);
            cause.add(evidence(call));
            if (whole_.has_capture && whole_.traffic.cm().empty())
                cause.add(value(call.role, "the capture has no ConnectRequest"));
        }
    }

    const Whole& whole_;
    Causes& causes_;
};

}  // namespace

void explain_programs(const Whole& whole, const std::vector<Direction>& directions,
                      Causes& causes) {
    Programs(whole, directions, causes).explain();
}

void explain_connection_manager(const Whole& whole, Causes& causes) {
    Causes found;
    ConnectionManager(whole, found).explain();
    causes.insert(causes.end(), std::make_move_iterator(found.begin()),
                  std::make_move_iterator(found.end()));
}

void explain_congestion(const Whole& whole, Causes& causes) {
    std::uint64_t marked = 0;
    const Seen* first = nullptr;
    for (const Stream& stream : whole.traffic.streams())
        for (const Seen& seen : stream.packets)
            if (seen.is_marked) {
                ++marked;
                if (first == nullptr || seen.frame < first->frame)
                    first = &seen;
            }
    const auto& cnps = whole.traffic.cnps();
    if (marked == 0 && cnps.empty())
        return;
    Cause cause{.code = Code::Congestion,
                .certainty = Certainty::Certain,
                .text = fmt::format("{} packets carry congestion marks (ECN), and {} CNPs went "
                                    "back{}.",
                                    marked, cnps.size(),
                                    cnps.empty() ? ": the receiver does not tell the sender" : ""),
                .evidence = {},
                .where = {}};
    if (first != nullptr)
        cause.add(evidence(*first));
    if (!cnps.empty())
        cause.add(
            {.frame = cnps.front().frame, .role = {}, .t_ns = cnps.front().t_ns, .text = "CNP"});
    causes.push_back(std::move(cause));
}

}  // namespace explain

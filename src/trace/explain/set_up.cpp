// Two ends that were set up differently.
#include <algorithm>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

using wire::AethKind;

class SetUp {
  public:
    SetUp(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), causes_(causes) {}

    void explain() {
        if (direction_.is_datagram() || !is_in_trouble())
            return;
        if (gid() || queue_pair() || readiness() || partition() || psn())
            return;
        path_mtu();
    }

  private:
    // The set-up of a connection that works is not questioned.
    bool is_in_trouble() const {
        if (!direction_.is_reliable())
            return true;
        if (direction_.requester != nullptr &&
            std::ranges::any_of(direction_.requester->errors,
                                [](const Completion& one) { return !one.is_receive; }))
            return true;
        if (has_unfinished_read())
            return true;
        const bool has_nak = std::ranges::any_of(
            direction_.responses, [](const Seen* one) { return one->is_kind(AethKind::Nak); });
        return has_nak || case_.course.repeats > 0 ||
               (case_.course.silent != nullptr && direction_.responses.empty());
    }

    // Its response came, and did not complete it.
    bool has_unfinished_read() const {
        const LoggedQueuePair* requester = direction_.requester;
        return requester != nullptr && std::ranges::any_of(requester->posts, [](const Post& post) {
                   return post.opcode == "RDMA_READ" && !post.is_done;
               });
    }

    Cause& add(Code code, Certainty certainty, std::string text) {
        Cause cause = case_.cause(code, certainty, std::move(text));
        cause.is_fatal = true;
        if (!direction_.requests.empty())
            cause.add(evidence(*direction_.requests.front()));
        causes_.push_back(std::move(cause));
        return causes_.back();
    }

    void add_values(Cause& cause, const std::string& requesters, const std::string& responders) {
        if (direction_.requester != nullptr)
            cause.add(value(direction_.requester->role, requesters));
        if (direction_.responder != nullptr)
            cause.add(value(direction_.responder->role, responders));
    }

    bool was_answered() const {
        return std::ranges::any_of(direction_.responses,
                                   [](const Seen* one) { return !one->is_kind(AethKind::Nak); });
    }

    bool gid() { return !was_answered() && (gid_of_requester() || gid_of_responder()); }

    // A queue pair drops what comes from another address than its peer's.
    bool gid_of_responder() {
        if (direction_.responder == nullptr || direction_.stream == nullptr)
            return false;
        const auto expected = host_of_gid(direction_.responder->dest_gid);
        const flow::Host& source = direction_.stream->key.src;
        if (!expected || *expected == source)
            return false;
        Cause& cause =
            add(Code::WrongGid, Certainty::Certain,
                fmt::format("{} is connected to {}, and the requests come from {}: it drops them.",
                            direction_.responder->called(), direction_.responder->dest_gid,
                            flow::text(source, direction_.stream->key.network)));
        cause.add(
            value(direction_.responder->role, "destination GID " + direction_.responder->dest_gid));
        return true;
    }

    // Where the requests go, and where the other logs' hosts are.
    bool gid_of_requester() {
        if (direction_.requester == nullptr)
            return false;
        const auto& logs = case_.whole.logs;
        const auto wanted = host_of_gid(direction_.requester->dest_gid);
        if (!wanted)
            return false;
        if (logs.role_at(*wanted) == direction_.requester_role && !is_connected_to_itself()) {
            Cause& cause = add(Code::WrongGid, Certainty::Certain,
                               fmt::format("the requests go to {}, which is the requester's own "
                                           "address.",
                                           direction_.requester->dest_gid));
            cause.add(value(direction_.requester->role,
                            "destination GID " + direction_.requester->dest_gid));
            return true;
        }
        std::string others;
        for (const auto& [host, role] : logs.hosts()) {
            if (host == *wanted && role != direction_.requester_role)
                return false;
            if (role != direction_.requester_role)
                others +=
                    (others.empty() ? "" : ", ") + role + ' ' + flow::text(host, network_of(host));
        }
        if (others.empty())
            return false;
        Cause& cause = add(Code::WrongGid, Certainty::Certain,
                           fmt::format("the requests go to {}, which is no address of the peer.",
                                       direction_.requester->dest_gid));
        cause.add(
            value(direction_.requester->role, "destination GID " + direction_.requester->dest_gid));
        cause.add(value(direction_.requester->role, "the other hosts: " + others));
        return true;
    }

    // By another queue pair of the same program.
    bool is_connected_to_itself() const {
        const LoggedQueuePair& requester = *direction_.requester;
        const auto& all = case_.whole.logs.queue_pairs();
        return std::ranges::any_of(all, [&](const LoggedQueuePair& pair) {
            return &pair != &requester && pair.role == requester.role &&
                   pair.qpn == direction_.dest_qpn;
        });
    }

    static flow::Network network_of(const flow::Host& host) {
        return host.high == 0 && host.low >> 32U == 0xffffU ? flow::Network::Ipv4
                                                            : flow::Network::Ipv6;
    }

    bool queue_pair() {
        return (!was_answered() && has_no_such_queue_pair()) || is_connected_elsewhere();
    }

    bool has_no_such_queue_pair() {
        if (direction_.responder_role.empty() ||
            !case_.whole.logs.is_whole(direction_.responder_role) ||
            !case_.whole.logs.find(direction_.responder_role, direction_.dest_qpn).empty())
            return false;
        Cause& cause = add(Code::WrongQpn, Certainty::Certain,
                           fmt::format("{} has no queue pair {:#08x}.", spoken(direction_.to),
                                       direction_.dest_qpn));
        constexpr std::size_t most = 5;
        for (const LoggedQueuePair& pair : case_.whole.logs.queue_pairs())
            if (pair.role == direction_.responder_role && cause.evidence.size() < most)
                cause.add(value(pair.role, fmt::format("has queue pair {:#08x}", pair.qpn)));
        return true;
    }

    // Its answers go to the wrong queue pair.
    bool is_connected_elsewhere() {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester == nullptr || responder == nullptr || responder->is_datagram() ||
            !responder->dest_qpn || *responder->dest_qpn == requester->qpn)
            return false;
        Cause& cause =
            add(Code::WrongQpn, Certainty::Certain,
                fmt::format("{} is connected to queue pair {:#08x}, and the requests come from "
                            "{:#08x}.",
                            responder->called(), *responder->dest_qpn, requester->qpn));
        add_values(cause, fmt::format("its queue pair {:#08x}", requester->qpn),
                   fmt::format("dest_qpn {:#08x}", *responder->dest_qpn));
        return true;
    }

    bool readiness() {
        const LoggedQueuePair* responder = direction_.responder;
        if (responder == nullptr)
            return false;
        const std::int64_t first = direction_.begin_ns();
        constexpr std::int64_t delay_ns = 2'000'000;  // the log may have it a little late
        const std::int64_t doubt_ns = case_.is_captured_at_responder() ? delay_ns : 100 * delay_ns;
        if (responder->ready_ns &&
            (direction_.requests.empty() || *responder->ready_ns <= first + doubt_ns))
            return false;
        if (!responder->ready_ns && was_answered())
            return false;
        Cause& cause =
            add(Code::PeerNotReady, Certainty::Certain,
                responder->ready_ns
                    ? fmt::format("{} went to RTR {:.1f} ms after the first request.",
                                  responder->called(),
                                  static_cast<double>(*responder->ready_ns - first) / 1e6)
                    : fmt::format("{} never went to RTR: it is in {}.", responder->called(),
                                  responder->state));
        cause.is_fatal = !was_answered();
        cause.cost_ns = responder->ready_ns ? *responder->ready_ns - first : 0;
        if (direction_.requests.empty() && direction_.requester != nullptr)
            cause.add(evidence(*direction_.requester, direction_.requester->posts.front()));
        if (responder->ready_ns)
            cause.add({.role = responder->role,
                       .t_ns = *responder->ready_ns,
                       .text = fmt::format("queue pair {:#08x} went to RTR", responder->qpn)});
        else
            cause.add(value(responder->role, "state " + responder->state));
        return true;
    }

    bool partition() {
        if (direction_.requests.empty() || was_answered())
            return false;
        constexpr std::uint16_t members = 0x7fff;
        const std::uint16_t own = direction_.requests.front()->p_key;
        std::optional<std::uint16_t> other;
        if (direction_.back != nullptr && !direction_.back->packets.empty())
            other = direction_.back->packets.front().p_key;
        for (const CmSeen& message : case_.whole.traffic.cm())
            if (!other && message.p_key != 0)
                other = message.p_key;
        const std::uint16_t expected = other.value_or(0xffff);
        if ((own & members) == (expected & members))
            return false;
        add(Code::WrongPKey, other ? Certainty::Certain : Certainty::Likely,
            fmt::format("the requests have P_Key {:#06x}, and {} {:#06x}.", own,
                        other ? "the packets of the other end have" : "the default partition is",
                        expected));
        return true;
    }

    bool psn() {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester != nullptr && responder != nullptr && requester->sq_psn &&
            responder->rq_psn) {
            if (*requester->sq_psn == *responder->rq_psn)
                return false;
            Cause& cause = add(Code::WrongPsn, Certainty::Certain,
                               fmt::format("{} begins with PSN {:#08x}, and {} expects {:#08x}.",
                                           spoken(direction_.from), *requester->sq_psn,
                                           spoken(direction_.to), *responder->rq_psn));
            add_values(cause, fmt::format("sq_psn {:#08x}", *requester->sq_psn),
                       fmt::format("rq_psn {:#08x}", *responder->rq_psn));
            return true;
        }
        return psn_by_responder() || psn_by_answers();
    }

    // Nothing was ever answered, and the responder waits for another PSN.
    bool psn_by_responder() {
        const LoggedQueuePair* responder = direction_.responder;
        if (responder == nullptr || !responder->rq_psn || direction_.requests.empty() ||
            !direction_.responses.empty())
            return false;
        const Seen& first = *direction_.requests.front();
        if (!first.opcode->starts_message() || first.psn == *responder->rq_psn)
            return false;
        Cause& cause = add(Code::WrongPsn, Certainty::Likely,
                           fmt::format("{} begins with PSN {:#08x}, and {} expects {:#08x}.",
                                       spoken(direction_.from), first.psn, spoken(direction_.to),
                                       *responder->rq_psn));
        cause.add(value(responder->role, fmt::format("rq_psn {:#08x}", *responder->rq_psn)));
        return true;
    }

    // The first answer names a PSN that was never sent.
    bool psn_by_answers() {
        if (direction_.requests.empty() || direction_.responses.empty())
            return false;
        const Seen& first = *direction_.requests.front();
        const Seen& answer = *direction_.responses.front();
        if (!first.opcode->starts_message() || answer.frame < first.frame)
            return false;
        const auto& facts = direction_.stream->facts;
        const LoggedQueuePair* requester = direction_.requester;
        const bool is_the_first = facts.first_psn == first.psn ||
                                  (requester != nullptr && requester->sq_psn == first.psn);
        const std::int32_t ahead = distance(first.psn, answer.psn);
        constexpr std::int32_t far = 4096;
        const bool was_sent = std::ranges::any_of(direction_.requests, [&](const Seen* one) {
            return one->frame < answer.frame && distance(answer.psn, one->psn) >= 0;
        });
        if ((ahead >= 0 && was_sent) || (ahead == 0))
            return false;
        if (ahead < 0 && !is_the_first && ahead > -far && !was_ignored(answer))
            return false;
        if (ahead > 0 && first.is(wire::Operation::RdmaReadRequest))
            return false;
        if (ahead < 0 && !answer.is_sequence_nak() && was_accepted(first))
            return false;
        const LoggedQueuePair* responder = direction_.responder;
        Cause& cause =
            add(Code::WrongPsn, is_the_first ? Certainty::Certain : Certainty::Likely,
                fmt::format("{} begins with PSN {:#08x}, and the first response has {:#08x}, which "
                            "was never sent: the responder expects other PSNs.",
                            spoken(direction_.from), first.psn, answer.psn));
        cause.add(evidence(answer));
        if (requester != nullptr && requester->sq_psn)
            cause.add(value(requester->role, fmt::format("sq_psn {:#08x}", *requester->sq_psn)));
        if (responder != nullptr && responder->rq_psn)
            cause.add(value(responder->role, fmt::format("rq_psn {:#08x}", *responder->rq_psn)));
        return true;
    }

    // A requester that has sent the PSN goes back to it. This one goes on with its own.
    bool was_ignored(const Seen& nak) const {
        if (!nak.is_sequence_nak() || nak.aeth.msn != 0)
            return false;
        std::size_t later = 0;
        for (const Seen* request : direction_.requests) {
            if (request->psn == nak.psn)
                return false;
            later += request->frame > nak.frame ? 1 : 0;
        }
        return later >= 2;
    }

    bool was_accepted(const Seen& request) const {
        return std::ranges::any_of(direction_.responses, [&](const Seen* one) {
            return !one->is_kind(AethKind::Nak) && distance(request.psn, one->psn) >= 0;
        });
    }

    void path_mtu() {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (responder == nullptr || responder->path_mtu == 0)
            return;
        const std::uint64_t own =
            requester != nullptr && requester->path_mtu != 0 ? requester->path_mtu : 0;
        std::uint32_t largest = 0;
        for (const Seen* request : direction_.requests)
            largest = std::max(largest, request->payload);
        const bool sends_more = largest > responder->path_mtu;
        const bool differs = own != 0 && own != responder->path_mtu;
        if (!sends_more && !differs)
            return;
        Cause& cause =
            add(Code::PathMtuMismatch, Certainty::Certain,
                own != 0 ? fmt::format("the path MTU is {} at {} and {} at {}.", own,
                                       spoken(direction_.from), responder->path_mtu,
                                       spoken(direction_.to))
                         : fmt::format("a packet has {} bytes of payload, and the path MTU of {} "
                                       "is {}.",
                                       largest, spoken(direction_.to), responder->path_mtu));
        add_values(cause, fmt::format("path_mtu {}", own),
                   fmt::format("path_mtu {}", responder->path_mtu));
        for (const Seen* response : direction_.responses)
            if (response->is_kind(AethKind::Nak)) {
                cause.add(evidence(*response));
                break;
            }
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
};

}  // namespace

void explain_set_up(const Case& one, Causes& causes) {
    SetUp(one, causes).explain();
}

void explain_datagrams(const Case& one, Causes& causes) {
    const Direction& direction = one.direction;
    if (!direction.is_datagram() || direction.dest_qpn == 0xffffff)
        return;
    const std::string& role = direction.responder_role;
    if (direction.responder == nullptr) {
        if (role.empty() || !one.whole.logs.is_whole(role) || direction.requests.empty())
            return;
        Cause cause = one.cause(
            Code::WrongQpn, Certainty::Certain,
            fmt::format("{} has no queue pair {:#08x}.", spoken(direction.to), direction.dest_qpn));
        cause.is_fatal = true;
        cause.add(evidence(*direction.requests.front()));
        causes.push_back(std::move(cause));
        return;
    }
    const auto wrong = std::ranges::find_if(direction.requests, [&](const Seen* datagram) {
        return direction.responder->q_key && datagram->q_key != *direction.responder->q_key;
    });
    if (wrong == direction.requests.end())
        return;
    Cause cause = one.cause(
        Code::WrongQKey, Certainty::Certain,
        fmt::format("the datagrams have Q_Key {:#010x}, and {} has {:#010x}: it drops them.",
                    (*wrong)->q_key, direction.responder->called(), *direction.responder->q_key));
    cause.is_fatal = true;
    cause.add(evidence(**wrong));
    cause.add(value(role, fmt::format("q_key {:#010x}", *direction.responder->q_key)));
    causes.push_back(std::move(cause));
}

}  // namespace explain

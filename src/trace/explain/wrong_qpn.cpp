// Requests to a queue pair that is not the peer's, or that does not exist.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

class WrongQpn {
  public:
    WrongQpn(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), causes_(causes) {}

    bool explain() {
        return has_too_many_bits() || is_of_the_past() ||
               (!case_.was_answered() && has_no_such_queue_pair()) || is_connected_elsewhere() ||
               is_answered_elsewhere() || is_shared();
    }

  private:
    Cause& add(Certainty certainty, std::string text) {
        return add_fatal(case_, causes_, Code::WrongQpn, certainty, std::move(text));
    }

    // The packets have only the low 24 bits.
    bool has_too_many_bits() {
        const LoggedQueuePair* requester = direction_.requester;
        constexpr std::uint32_t bits = 0xffffff;
        if (requester == nullptr || !requester->dest_qpn || *requester->dest_qpn <= bits)
            return false;
        const std::uint32_t wanted = *requester->dest_qpn;
        const std::uint32_t swapped = __builtin_bswap32(wanted);
        Cause& cause = add(
            Certainty::Certain,
            fmt::format("{} is connected to queue pair {:#010x}, which has more than 24 bits: its "
                        "packets go to {:#08x}{}.",
                        requester->called(), wanted, wanted & bits,
                        swapped <= bits
                            ? fmt::format(". In the other byte order it is {:#08x}", swapped)
                            : ""));
        cause.add(value(requester->role, fmt::format("dest_qpn {:#010x}", wanted)));
        return true;
    }

    // The responder destroyed the queue pair before the first request, and has another one for this
    // requester.
    bool is_of_the_past() {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester == nullptr || responder == nullptr || !responder->destroyed_ns ||
            case_.was_answered())
            return false;
        const auto all = case_.whole.logs.connected_to(requester->qpn, *responder);
        const auto found = std::ranges::find_if(all, [&](const LoggedQueuePair* pair) {
            return pair->role == responder->role && pair != responder && pair->ready_ns &&
                   *pair->ready_ns > *responder->destroyed_ns;
        });
        if (found == all.end())
            return false;
        const LoggedQueuePair* current = *found;
        Cause& cause =
            add(Certainty::Certain,
                fmt::format("{} was destroyed before; the one that is connected to {} is "
                            "{:#08x}.",
                            responder->called(), requester->called(), current->qpn));
        cause.add({.role = responder->role,
                   .t_ns = *responder->destroyed_ns,
                   .text = fmt::format("queue pair {:#08x} destroyed", responder->qpn)});
        cause.add({.role = current->role,
                   .t_ns = *current->ready_ns,
                   .text = fmt::format("queue pair {:#08x} went to RTR, dest_qpn {:#08x}",
                                       current->qpn, requester->qpn)});
        cause.add(value(requester->role, fmt::format("dest_qpn {:#08x}", direction_.dest_qpn)));
        return true;
    }

    bool has_no_such_queue_pair() {
        const std::string& role = direction_.responder_role;
        if (role.empty() || !case_.is_responders_log_there() ||
            !case_.whole.logs.has_queue_pairs(role) ||
            !case_.whole.logs.find(role, direction_.dest_qpn).empty())
            return false;
        Cause& cause =
            add(Certainty::Certain, fmt::format("{} has no queue pair {:#08x}.",
                                                spoken(direction_.to), direction_.dest_qpn));
        constexpr std::size_t most = 5;
        for (const LoggedQueuePair& pair : case_.whole.logs.queue_pairs()) {
            if (pair.role != direction_.responder_role)
                continue;
            if (is_in_other_byte_order(direction_.dest_qpn, pair.qpn))
                cause.text +=
                    fmt::format(" In the other byte order it is {:#08x}, which it has.", pair.qpn);
            if (cause.evidence.size() < most)
                cause.add(value(pair.role, fmt::format("has queue pair {:#08x}", pair.qpn)));
        }
        return true;
    }

    // The responder sends its responses to another queue pair.
    bool is_connected_elsewhere() {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester == nullptr || responder == nullptr || responder->is_datagram() ||
            !responder->dest_qpn || *responder->dest_qpn == requester->qpn)
            return false;
        Cause& cause =
            add(Certainty::Certain,
                fmt::format("{} is connected to queue pair {:#08x}, but the requests come from "
                            "{:#08x}.",
                            responder->called(), *responder->dest_qpn, requester->qpn));
        cause.add(value(requester->role, fmt::format("its queue pair {:#08x}", requester->qpn)));
        cause.add(value(responder->role, fmt::format("dest_qpn {:#08x}", *responder->dest_qpn)));
        return true;
    }

    // Without the responder's log: a queue pair sends its responses to the one that it is connected to.
    bool is_answered_elsewhere() {
        const LoggedQueuePair* requester = direction_.requester;
        if (requester == nullptr || direction_.responder != nullptr || direction_.back == nullptr ||
            direction_.responses.empty() || has_executed(*requester))
            return false;
        const flow::StreamKey& back = direction_.back->key;
        const bool has_own_responses =
            std::ranges::any_of(case_.whole.traffic.streams(), [&](const KeptStream& one) {
                return one.key.src == back.src && one.key.dst == back.dst &&
                       one.key.dest_qpn == requester->qpn;
            });
        if (has_own_responses)
            return false;
        // The other one may have requests that wait for them.
        const auto others = case_.whole.logs.find(requester->role, back.dest_qpn);
        const bool is_idle = !others.empty() && std::ranges::all_of(others, [](const auto* other) {
            return other->posts.empty();
        });
        Cause& cause = add(
            is_idle ? Certainty::Certain : Certainty::Likely,
            fmt::format("the requests come from {}, but the responses go to queue pair {:#08x}: "
                        "the queue pair at {} is connected to that one.",
                        requester->called(), back.dest_qpn, spoken(direction_.to)));
        cause.add(evidence(*direction_.responses.front()));
        cause.add(value(requester->role, fmt::format("queue pair {:#08x}, dest_qpn {:#08x}",
                                                     requester->qpn, direction_.dest_qpn)));
        for (const LoggedQueuePair* other : others)
            if (other->dest_qpn)
                cause.add(value(other->role, fmt::format("queue pair {:#08x}, dest_qpn {:#08x}",
                                                         other->qpn, *other->dest_qpn)));
        return true;
    }

    // Two queue pairs of a program are connected to the same one, which can have one peer only.
    bool is_shared() {
        const LoggedQueuePair* requester = direction_.requester;
        if (requester == nullptr || direction_.responder != nullptr || !requester->dest_qpn ||
            requester->dest_gid.empty() || has_executed(*requester))
            return false;
        const auto all = case_.whole.logs.connected_to(*requester->dest_qpn, *requester);
        const auto found = std::ranges::find_if(all, [&](const LoggedQueuePair* pair) {
            return pair != requester && pair->role == requester->role && !pair->is_datagram() &&
                   pair->type == requester->type && pair->dest_gid == requester->dest_gid &&
                   was_connected_beside(*pair);
        });
        if (found == all.end())
            return false;
        const LoggedQueuePair* other = *found;
        Cause& cause = add(Certainty::Likely,
                           fmt::format("{} and {} are both connected to queue pair {:#08x}, which "
                                       "has one peer only.",
                                       requester->called(), fmt::format("{:#08x}", other->qpn),
                                       *requester->dest_qpn));
        for (const LoggedQueuePair* pair : {requester, other})
            cause.add(value(pair->role, fmt::format("queue pair {:#08x}, dest_qpn {:#08x}",
                                                    pair->qpn, *pair->dest_qpn)));
        return true;
    }

    bool was_connected_beside(const LoggedQueuePair& pair) const {
        const auto is_before_end = [](const LoggedQueuePair& one, std::int64_t t_ns) {
            return (!one.failed_ns || t_ns < *one.failed_ns) &&
                   (!one.destroyed_ns || t_ns < *one.destroyed_ns);
        };
        const LoggedQueuePair& requester = *direction_.requester;
        return pair.ready_ns && requester.ready_ns && is_before_end(pair, *requester.ready_ns) &&
               is_before_end(requester, *pair.ready_ns);
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
};

}  // namespace

bool explain_wrong_qpn(const Case& one, Causes& causes) {
    return WrongQpn(one, causes).explain();
}

}  // namespace explain

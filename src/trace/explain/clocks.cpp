#include "trace/explain/clocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "trace/logged/clock_bounds.hpp"

namespace explain {
namespace {

using logged::ClockBounds;

// Requests leave after they were posted, and complete after they left.
void bound_requester(const Direction& direction, ClockBounds& bounds) {
    std::unordered_map<std::uint32_t, std::int64_t> first_seen;  // by PSN
    for (const Seen* request : direction.requests)
        first_seen.emplace(request->psn.value(), request->t_ns);
    // Of a request that the requester's own device refused, the log has a PSN that was not sent.
    if (std::ranges::any_of(direction.requester->errors, [](const Completion& error) {
            return error.status.starts_with("LOC_");
        }))
        return;
    for (const Post& post : direction.requester->posts) {
        const auto seen =
            post.psn_first ? first_seen.find(post.psn_first->value()) : first_seen.end();
        if (seen == first_seen.end())
            continue;
        bounds.posted_before(post.t_ns, seen->second);
        if (post.is_done)
            bounds.completed_after(post.done_ns, seen->second);
    }
}

// A queue pair responds from RTR until it is destroyed.
void bound_responder(const Direction& direction, ClockBounds& bounds) {
    const Seen* first = direction.first_response();
    if (first == nullptr)
        return;
    const LoggedQueuePair& responder = *direction.responder;
    if (responder.ready_ns)
        bounds.posted_before(*responder.ready_ns, first->t_ns);
    if (responder.destroyed_ns)
        bounds.completed_after(*responder.destroyed_ns, direction.responses.back()->t_ns);
}

}  // namespace

Offsets clock_offsets(const Directions& directions) {
    constexpr std::int64_t doubt_ns = 20'000'000;  // the path delays packets
    std::map<std::string, ClockBounds> bounds;
    for (const Direction& direction : directions) {
        if (direction.stream == nullptr)
            continue;
        if (direction.requester != nullptr)
            bound_requester(direction, bounds[direction.requester->role]);
        if (direction.responder != nullptr)
            bound_responder(direction, bounds[direction.responder->role]);
    }
    Offsets offsets;
    for (const auto& [role, of_role] : bounds)
        if (of_role.contradiction() <= doubt_ns && std::abs(of_role.smallest()) > doubt_ns)
            offsets.emplace(role, of_role.smallest());
    return offsets;
}

}  // namespace explain

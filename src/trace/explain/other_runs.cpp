#include "trace/explain/other_runs.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace explain {
namespace {

using Roles = std::set<std::string>;
using Address = std::pair<std::uint32_t, std::uint64_t>;  // rkey, virtual address

bool has_first_psn(const std::optional<wire::Psn>& psn, const Direction& direction) {
    return psn == direction.requests.front()->psn;
}

bool has_posts_of(const LoggedQueuePair& requester, const Direction& direction) {
    std::set<std::uint32_t> psns;
    std::set<Address> addresses;
    for (const Seen* request : direction.requests) {
        psns.insert(request->psn.value());
        if (request->rkey != 0)
            addresses.emplace(request->rkey, request->va);
    }
    return std::ranges::any_of(requester.posts, [&](const Post& post) {
        return (post.psn_first && psns.contains(post.psn_first->value())) ||
               (post.rkey && addresses.contains({*post.rkey, post.remote_va}));
    });
}

// The roles whose packets are in the capture. Queue pair numbers repeat from run to run; PSNs and the
// addresses of remote memory do not.
Roles roles_in_capture(const Directions& directions, const Logs& logs) {
    Roles roles;
    std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> targets;  // responder, rkey: va
    for (const Direction& direction : directions) {
        if (direction.requests.empty())
            continue;
        const LoggedQueuePair* const requester = direction.requester;
        const LoggedQueuePair* const responder = direction.responder;
        if (requester != nullptr && !roles.contains(requester->role) &&
            (has_first_psn(requester->sq_psn, direction) || has_posts_of(*requester, direction)))
            roles.insert(requester->role);
        if (responder == nullptr || roles.contains(responder->role))
            continue;
        if (has_first_psn(responder->rq_psn, direction) ||
            (requester != nullptr && roles.contains(requester->role) && responder->rq_psn &&
             requester->sq_psn == responder->rq_psn))
            roles.insert(responder->role);
        for (const Seen* request : direction.requests)
            if (request->rkey != 0)
                targets.try_emplace({responder->role, request->rkey}, request->va);
    }
    for (const Region& region : logs.regions())
        if (const auto found = targets.find({region.role, region.rkey});
            found != targets.end() && region.has(found->second, 1))
            roles.insert(region.role);
    return roles;
}

// The roles whose logs have anything of these: a log may hide PSNs, and need no remote memory.
Roles roles_to_recognize(const Logs& logs) {
    Roles roles;
    for (const LoggedQueuePair& pair : logs.queue_pairs())
        if (pair.sq_psn || pair.rq_psn || std::ranges::any_of(pair.posts, [](const Post& post) {
                return post.psn_first || post.rkey;
            }))
            roles.insert(pair.role);
    for (const Region& region : logs.regions())
        if (region.rkey != 0)
            roles.insert(region.role);
    return roles;
}

}  // namespace

// Only a log of another time can be of another run: of this run, the capture may lack all packets of a
// program. A run that another log shows to be this one may go on after the last packet.
std::vector<OtherRun> other_runs(const Directions& directions, const Logs& logs,
                                 const Offsets& offsets, const Period& capture) {
    constexpr std::int64_t least_ns = 10'000'000'000;
    const Roles present = roles_in_capture(directions, logs);
    Period run = capture;
    for (const std::string& role : present) {
        const Period& period = logs.periods().at(role);
        const auto offset = offsets.find(role);
        const std::int64_t by = offset == offsets.end() ? 0 : offset->second;
        run.add(period.begin_ns + by);
        run.add(period.end_ns + by);
    }
    std::vector<OtherRun> all;
    for (const std::string& role : roles_to_recognize(logs)) {
        const Period& period = logs.periods().at(role);
        const std::int64_t ahead = period.end_ns < run.begin_ns
                                       ? run.begin_ns - period.end_ns
                                       : std::min<std::int64_t>(run.end_ns - period.begin_ns, 0);
        if (std::abs(ahead) > least_ns && !present.contains(role))
            all.push_back({role, ahead});
    }
    return all;
}

}  // namespace explain

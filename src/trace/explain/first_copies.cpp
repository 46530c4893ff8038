// Requests that reached the capture only as a retransmission, according to the requester's log.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

struct Arrival {
    const Post* post = nullptr;
    const Seen* packet = nullptr;  // the first of the request
    std::int64_t delay_ns = 0;     // the clocks of the log and of the capture may differ
};

std::vector<Arrival> arrivals_of(const Direction& direction) {
    std::unordered_map<std::uint32_t, const Seen*> first;
    for (const Seen* request : direction.requests)
        first.try_emplace(request->psn.value(), request);
    std::vector<Arrival> all;
    for (const Post& post : direction.requester->posts)
        if (post.psn_first)
            if (const auto known = first.find(post.psn_first->value()); known != first.end())
                all.push_back({&post, known->second, known->second->t_ns - post.t_ns});
    return all;
}

// Returns whether the requester had nothing else to send when it posted the request. The first request
// may wait until the address of the responder's host is resolved.
bool was_idle(const LoggedQueuePair& requester, const Post& post) {
    if (&post == requester.posts.data())
        return false;
    const Post& before = *(&post - 1);
    return before.is_done && before.done_ns <= post.t_ns;
}

}  // namespace

void explain_lost_first_copies(const Case& one, Causes& causes) {
    constexpr std::int64_t longest_pause_ns = 500'000'000;  // of a busy host
    const Direction& direction = one.direction;
    const LoggedQueuePair* requester = direction.requester;
    const auto timeout = ack_timeout_of(direction);
    if (requester == nullptr || direction.stream == nullptr || direction.stream->forgotten != 0 ||
        !timeout || !one.whole.logs.is_whole(requester->role))
        return;
    const std::vector<Arrival> all = arrivals_of(direction);
    if (all.empty())
        return;
    const std::int64_t usual = std::ranges::min_element(all, {}, &Arrival::delay_ns)->delay_ns;
    const std::int64_t least = usual + std::max(longest_pause_ns, *timeout / 2);
    const Arrival* first = nullptr;
    std::size_t count = 0;
    std::int64_t cost = 0;
    for (const Arrival& arrival : all) {
        if (arrival.delay_ns < least || !was_idle(*requester, *arrival.post) ||
            arrival.post->took_less_than(arrival.delay_ns - usual))  // then a clock was set
            continue;
        first = first == nullptr ? &arrival : first;
        ++count;
        cost += arrival.delay_ns - usual;
    }
    if (first == nullptr)
        return;
    Cause cause = one.cause(
        Code::Loss, Certainty::Likely,
        fmt::format("{} lost before the capture, which has only a retransmission: the first packet "
                    "came {} later than usual after the request was posted, and {}.",
                    count == 1 ? "a request was" : counted(count, "request") + " were",
                    exact(first->delay_ns - usual), timeout_text(direction)));
    cause.cost_ns = cost;
    cause.add(evidence(*requester, *first->post));
    cause.add(evidence(*first->packet));
    causes.push_back(std::move(cause));
}

}  // namespace explain

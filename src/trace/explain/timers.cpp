#include "trace/explain/timers.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace explain {
namespace {

// When it is known that the requester still sends nothing: the end of the capture, or of its log. 0: it
// has nothing to send, because each request has a completion.
std::int64_t end_of(const Case& one) {
    const LoggedQueuePair* requester = one.direction.requester;
    if (requester == nullptr || !one.whole.logs.is_whole(requester->role))
        return one.whole.traffic.end_ns();
    const bool is_waiting = std::ranges::any_of(requester->posts, [](const Post& post) {
        return !post.is_done && post.is_signaled && post.has_packets();
    });
    if (!is_waiting)
        return 0;
    std::int64_t end = one.whole.logs.end_of(requester->role);
    for (const auto& ended : {requester->failed_ns, requester->destroyed_ns})
        end = std::min(end, ended.value_or(end));
    return end;
}

// The evidence of a retransmission. If a timer may have sent it: with the time since the copy before it,
// and the timeout.
Evidence again(const Direction& direction, const Episode& episode) {
    Evidence one = evidence(*episode.again);
    const Seen* answer = episode.answer;
    const bool was_asked_for = answer != nullptr && answer->frame < episode.again->frame &&
                               (answer->is_rnr_nak() || answer->is_sequence_nak());
    // It was overtaken by the packet behind it.
    const bool is_late =
        episode.why == Why::Reordered && episode.first->psn.is_after(episode.again->psn);
    const std::string timeout = timeout_text(direction);
    const bool is_timed =
        !was_asked_for && !timeout.empty() && episode.first->psn == episode.again->psn;
    one.text += is_timed  ? fmt::format("  (again after {}; {})",
                                        exact(episode.again->t_ns - episode.first->t_ns), timeout)
                : is_late ? "  (late)"
                          : "  (again)";
    return one;
}

// Nothing else shows why it was sent.
bool may_be_timed(const Episode& episode) {
    const bool was_asked_for = episode.answer != nullptr && episode.answer->is_sequence_nak();
    return !was_asked_for && !episode.is_same_packet && episode.why != Why::NotReady &&
           episode.why != Why::Damaged && episode.why != Why::LostBefore &&
           episode.why != Why::Reordered;
}

// Returns the request that started a timer which expired when the copy was sent, although the copy's own timer
// still ran; nullptr: none.
const Seen* starter_of(const Direction& direction, const Episode& episode) {
    constexpr std::int64_t usual_ns = 67'108'864;  // timeout 14
    constexpr std::int64_t delay_ns = 20'000'000;  // of a kernel's ticks and a busy host
    const std::int64_t timeout = ack_timeout_of(direction).value_or(usual_ns);
    if (episode.cost_ns >= timeout / 2)
        return nullptr;
    const auto found = std::ranges::find_if(direction.requests, [&](const Seen* request) {
        const std::int64_t passed = episode.again->t_ns - request->t_ns;
        return passed >= timeout - timeout / 8 && passed <= timeout + delay_ns;
    });
    return found == direction.requests.end() ? nullptr : *found;
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view unit) {
    return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

std::string exact(std::int64_t ns) {
    constexpr double us = 1e3, ms = 1e6, s = 1e9;
    const auto time = static_cast<double>(ns);
    return time < ms / 10 ? fmt::format("{:.0f} us", time / us)
           : time < s     ? fmt::format("{:.2f} ms", time / ms)
                          : fmt::format("{:.2f} s", time / s);
}

std::optional<std::int64_t> ack_timeout_of(const Direction& direction) {
    const LoggedQueuePair* requester = direction.requester;
    if (requester != nullptr && requester->ack_timeout_ns())
        return requester->ack_timeout_ns();
    return direction.stream == nullptr ? std::nullopt
                                       : direction.stream->facts.retry.ack_timeout_ns;
}

std::optional<std::int64_t> all_retries_of(const Direction& direction) {
    const LoggedQueuePair* requester = direction.requester;
    if (requester == nullptr || !requester->ack_timeout_ns() || !requester->retry_cnt)
        return std::nullopt;
    return *requester->ack_timeout_ns() * static_cast<std::int64_t>(*requester->retry_cnt + 1);
}

std::string timeout_text(const Direction& direction) {
    const auto timeout = ack_timeout_of(direction);
    if (!timeout)
        return {};
    const LoggedQueuePair* requester = direction.requester;
    return requester != nullptr && requester->ack_timeout_ns()
               ? fmt::format("timeout {} is {}", *requester->timeout, exact(*timeout))
               : fmt::format("the ACK timeout is {}", exact(*timeout));
}

const Seen* running_timer_of(const Case& one) {
    constexpr std::size_t most = 16;
    const Seen* first = nullptr;
    if (one.course.episodes.size() > most)
        return nullptr;
    for (const Episode& episode : one.course.episodes) {
        const Seen* starter = may_be_timed(episode) ? starter_of(one.direction, episode) : nullptr;
        if (starter == nullptr)
            return nullptr;
        first = first == nullptr ? starter : first;
    }
    return first;
}

std::int64_t wait_of(std::uint64_t rnr_code) {
    constexpr double ns_per_ms = 1e6;
    const wire::Aeth aeth{.syndrome = static_cast<std::uint8_t>(0x20 | (rnr_code & 0x1f))};
    return static_cast<std::int64_t>(aeth.rnr_timer_ms().value_or(0) * ns_per_ms);
}

void add_episode(const Case& one, Cause& cause, const Episode& episode) {
    cause.add(evidence(*episode.first));
    add_retransmission(one, cause, episode);
}

void add_retransmission(const Case& one, Cause& cause, const Episode& episode) {
    if (episode.answer != nullptr)
        cause.add(evidence(*episode.answer));
    cause.add(again(one.direction, episode));
    const LoggedQueuePair* requester = one.direction.requester;
    if (requester != nullptr)
        if (const auto* timer = one.whole.logs.timer_before(
                requester->role, requester->qpn, episode.again->psn, episode.again->t_ns))
            cause.add(evidence(*timer));
}

std::optional<std::int64_t> abandoned_for(const Case& one) {
    constexpr std::int64_t least_ns = 2'000'000'000;
    const Seen* last = one.course.last_answer;
    const Direction& direction = one.direction;
    if (last == nullptr || !(last->is_rnr_nak() || last->is_sequence_nak()) ||
        direction.requests.empty() || direction.requests.back()->frame > last->frame)
        return std::nullopt;
    const std::int64_t asked = last->is_rnr_nak() ? wait_of(last->aeth.code()) : 0;
    // A timer expires after at most four times its value (IBTA volume 1, 9.7.6.1.3).
    const std::int64_t limit = least_ns + asked + 4 * ack_timeout_of(direction).value_or(0);
    const std::int64_t silence = end_of(one) - last->t_ns;
    return silence >= limit ? std::optional(silence) : std::nullopt;
}

std::size_t timed_out(const Case& one, Why why) {
    const auto timeout = ack_timeout_of(one.direction);
    return timeout ? one.course.count(why, (*timeout + 1) / 2) : one.course.count(why);
}

}  // namespace explain

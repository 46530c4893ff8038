#include "trace/explain/timers.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace explain {
namespace {

// The smallest attribute whose time is longer.
unsigned least_timeout(std::int64_t ns) {
    constexpr unsigned most = 31;
    unsigned n = 1;
    while (n < most && (std::int64_t{4096} << n) <= ns)
        ++n;
    return n;
}

// The longest time from the first copy of a request to its own response. The response to a request
// that was sent once is in Course; a late one came before the second copy was answered.
std::int64_t slowest_response(const Course& course) {
    std::int64_t slowest = std::max(course.slowest_ns, course.fastest_ns);
    for (const Episode& episode : course.episodes)
        if (episode.why == Why::AnswerLate && episode.answer != nullptr)
            slowest = std::max(slowest, episode.answer->t_ns - episode.first->t_ns);
    return slowest;
}

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
    const std::string timeout = timeout_text(direction);
    const bool is_timed = !was_asked_for && !timeout.empty() && episode.first != nullptr &&
                          episode.first->psn == episode.again->psn;
    one.text += is_timed ? fmt::format("  (again after {}; {})",
                                       exact(episode.again->t_ns - episode.first->t_ns), timeout)
                         : "  (again)";
    return one;
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

std::int64_t wait_of(std::uint64_t rnr_code) {
    constexpr double ns_per_ms = 1e6;
    const wire::Aeth aeth{.syndrome = static_cast<std::uint8_t>(0x20 | (rnr_code & 0x1f))};
    return static_cast<std::int64_t>(aeth.rnr_timer_ms().value_or(0) * ns_per_ms);
}

void add_episode(const Case& one, Cause& cause, const Episode& episode) {
    if (episode.first != nullptr)
        cause.add(evidence(*episode.first));
    if (episode.answer != nullptr)
        cause.add(evidence(*episode.answer));
    cause.add(again(one.direction, episode));
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

bool explain_short_timeout(const Case& one, std::size_t answered, std::size_t lost,
                           bool has_given_up, Causes& causes) {
    const Course& course = one.course;
    const Direction& direction = one.direction;
    const std::size_t late = timed_out(one, Why::AnswerLate);
    const auto timeout = ack_timeout_of(direction);
    const bool has_failed = one.error("RETRY_EXC_ERR") != nullptr;
    const bool is_each =
        answered >= 3 && !has_failed && answered * 5 >= course.asked * 4 && lost == 0;
    const bool is_slow = timeout && course.answered >= 3 && course.are_copies_answered &&
                         course.fastest_ns > *timeout;
    if (late < (has_failed ? 1U : 2U) && !is_each && !is_slow)
        return false;
    if (late < answered && !is_each && !is_slow)
        return false;
    const bool is_certain = is_slow || (late >= 2 && lost == 0);
    Cause cause = one.cause(
        Code::TimeoutTooShort, is_certain ? Certainty::Certain : Certainty::Likely,
        is_slow
            ? fmt::format("each request was retransmitted before its response arrived: the "
                          "fastest response took {}, and {}.",
                          exact(course.fastest_ns), timeout_text(direction))
            : fmt::format("{} retransmitted although both copies arrived: the ACK timeout is "
                          "shorter than the time until the response arrives.",
                          late + answered == 1 ? "a request was"
                                               : counted(late + answered, "request") + " were"));
    cause.cost_ns = course.cost_of(Why::AnswerLate);
    cause.is_fatal = has_given_up;
    const Episode* example = course.first(Why::AnswerLate);
    for (const Why why : {Why::AnswerLost, Why::DataLost})
        if (example == nullptr)
            example = course.first(why);
    if (example == nullptr && !course.episodes.empty())
        example = &course.episodes.front();
    if (example != nullptr)
        add_episode(one, cause, *example);
    if (timeout) {
        const std::int64_t slowest = slowest_response(course);
        const unsigned needed = least_timeout(2 * slowest);
        cause.try_this =
            (std::int64_t{4096} << needed) > *timeout
                ? fmt::format(
                      "Set timeout to {} ({}): the first value that leaves twice the time of "
                      "the slowest response, {}.",
                      needed, exact(std::int64_t{4096} << needed), exact(slowest))
                : fmt::format(
                      "Use a longer ACK timeout than {}, or capture at the requester to see "
                      "when the responses arrive.",
                      exact(*timeout));
    }
    causes.push_back(std::move(cause));
    return true;
}

}  // namespace explain

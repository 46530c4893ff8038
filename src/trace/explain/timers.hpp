// The timers of a direction, and how long its requester waited: values for sentences and evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/explain/course.hpp"
#include "trace/explain/direction.hpp"
#include "trace/explain/rules.hpp"

namespace explain {

/// "1 request", "2 requests".
std::string counted(std::uint64_t count, std::string_view unit);
/// "16 us", "1.05 ms", "655.36 ms", "2.15 s".
std::string exact(std::int64_t ns);

/// The requester's ACK timeout, from its log or from the connection manager's messages.
std::optional<std::int64_t> ack_timeout_of(const Direction& direction);
/// The time until a requester without any response gives up, from its log: retry_cnt + 1 timeouts.
std::optional<std::int64_t> all_retries_of(const Direction& direction);
/// "timeout 14 is 67.11 ms"; empty: unknown.
std::string timeout_text(const Direction& direction);
/// The time for which an RNR NAK with this code asks the requester to wait.
std::int64_t wait_of(std::uint64_t rnr_code);
/// Adds the packets of an episode. If a timer may have sent the second copy: with the time since the
/// first one, and the timeout.
void add_episode(const Case& one, Cause& cause, const Episode& episode);
/// The same without the first copy.
void add_retransmission(const Case& one, Cause& cause, const Episode& episode);

/// How long the requester sent nothing, although the last response asks for a request: until the end
/// of its log, or without that, of the capture. nullopt: it may still have sent one, or has none.
std::optional<std::int64_t> abandoned_for(const Case& one);

/// Counts the retransmissions that a timer can have caused. A timer that started before the request
/// was sent, as in Soft-RoCE, may expire early: a retransmission long before the timeout shows neither
/// a loss nor a delay.
std::size_t timed_out(const Case& one, Why why);

/// If each retransmission of the direction came too soon for its own timer, and one that an earlier request
/// had started expired then, as Soft-RoCE's do: the request that started the first one. Otherwise nullptr.
const Seen* running_timer_of(const Case& one);

}  // namespace explain

// The order of rows: a call, also one that is logged when it returns, stands before what it caused.
// Two rows may have the same time, because clock bounds produce equal times.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "runlog/event.hpp"

namespace timeline {

namespace key = runlog::key;

/// A call in progress has an event `begun`. If it has returned since, its own event has the same
/// role, thread and time, and replaces that one.
using CallKey = std::tuple<std::string, std::uint64_t, std::int64_t>;

inline CallKey call_key(const runlog::Event& event) {
    return {event.role, event[key::tid].value_or(0), event.t_ns};
}

/// Whether the event has the time at which its call began. In older logs it is the return.
inline bool is_begin(const runlog::Event& event) {
    return event.is("post_send") || event[key::took_us].has_value();
}

// The order is: the call, its packet, the completion.
inline int event_rank(const runlog::Event& event) {
    return is_begin(event) ? 0 : 2;
}
constexpr int packet_rank = 1;

}  // namespace timeline

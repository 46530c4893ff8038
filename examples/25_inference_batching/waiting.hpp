// Waits for one of several descriptors or a deadline with microsecond resolution: a batcher waits
// for less than poll(2)'s millisecond.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <poll.h>
#include <span>

#include "util/check.hpp"
#include "util/stop_signal.hpp"

namespace lesson25 {

using Time = util::Clock::time_point;
using std::chrono::nanoseconds;

/// The unit of the log's times.
inline std::uint64_t microseconds(nanoseconds time) {
    return static_cast<std::uint64_t>(time.count()) / 1000;
}

inline void wait_for_any(std::span<pollfd> descriptors, util::Deadline deadline) {
    timespec time{};
    if (deadline) {
        const auto left = std::max(*deadline - util::Clock::now(), util::Clock::duration(0));
        const auto whole = std::chrono::floor<std::chrono::seconds>(left);
        time.tv_sec = whole.count();
        time.tv_nsec = std::chrono::nanoseconds(left - whole).count();
    }
    if (ppoll(descriptors.data(), descriptors.size(), deadline ? &time : nullptr, nullptr) < 0 &&
        errno != EINTR)
        util::check_errno(-1, "ppoll");
}

inline util::Deadline earlier(util::Deadline a, util::Deadline b) {
    if (!a || !b)
        return a ? a : b;
    return std::min(*a, *b);
}

}  // namespace lesson25

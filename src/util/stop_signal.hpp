// SIGINT and SIGTERM as a readable descriptor, so that a program can wait for "stop" in the same
// poll() as for other input. Create it first in main, before any thread.
#pragma once

#include <chrono>
#include <optional>

#include "util/signal_fd.hpp"

namespace util {

using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;  // nullopt: no time limit

inline Deadline deadline_in(std::chrono::milliseconds time) {
    return Clock::now() + time;
}

/// The remaining time for poll(2): whole milliseconds, rounded up to avoid busy waiting before the
/// deadline; -1 for none.
int poll_timeout(Deadline deadline);

/// Always false for nullopt.
inline bool is_past(Deadline deadline) {
    return deadline && Clock::now() >= *deadline;
}

class StopSignal {
  public:
    int fd() const { return signals_.fd(); }

    /// True once SIGINT or SIGTERM has arrived; stays true, for all threads: the signal is never
    /// taken, and so wakes all of them.
    bool requested() const { return signals_.is_pending(); }

  private:
    SignalFd signals_{SIGINT, SIGTERM};
};

enum class Ready { input, stop, timeout };

/// Waits until `fd` is readable, a stop was requested (which takes precedence), or the deadline has
/// passed.
Ready wait_readable(int fd, StopSignal& stop, Deadline deadline);

}  // namespace util

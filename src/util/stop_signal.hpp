// SIGINT and SIGTERM as a readable descriptor, so that a program waits for "stop" in the same
// poll() as for its work. Make it first in main, before any thread.
#pragma once

#include <chrono>
#include <optional>

#include "util/signal_fd.hpp"

namespace util {

using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;  // nullopt: wait for ever

inline Deadline deadline_in(std::chrono::milliseconds time) {
    return Clock::now() + time;
}

/// The time left as poll(2) takes it: whole milliseconds, rounded up so that nobody spins towards a
/// deadline; -1 for none.
int poll_timeout(Deadline deadline);

/// Never for nullopt.
inline bool is_past(Deadline deadline) {
    return deadline && Clock::now() >= *deadline;
}

class StopSignal {
  public:
    int fd() const { return signals_.fd(); }

    /// True once SIGINT or SIGTERM has arrived; stays true, for all threads: the signal is never
    /// taken, and so wakes each of them.
    bool requested() const { return signals_.is_pending(); }

  private:
    SignalFd signals_{SIGINT, SIGTERM};
};

enum class Ready { input, stop, timeout };

/// Waits until `fd` is readable, a stop was requested (which wins), or the deadline has passed.
Ready wait_readable(int fd, StopSignal& stop, Deadline deadline);

}  // namespace util

// SIGINT and SIGTERM as a readable descriptor, so that a program waits for "stop" in the same
// poll() as for its work. Make it first in main, before any thread: threads inherit the blocked
// mask. Source: signalfd(2).
#pragma once

#include <chrono>
#include <optional>

#include "util/fd.hpp"

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
    StopSignal();
    ~StopSignal();
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;
    StopSignal(StopSignal&&) = delete;
    StopSignal& operator=(StopSignal&&) = delete;

    int fd() const { return fd_.get(); }

    /// True once SIGINT or SIGTERM has arrived; stays true.
    bool requested();

  private:
    Fd fd_;
    bool requested_ = false;
};

enum class Ready { input, stop, timeout };

/// Waits until `fd` is readable, a stop was requested (which wins), or the deadline has passed.
Ready wait_readable(int fd, StopSignal& stop, Deadline deadline);

}  // namespace util

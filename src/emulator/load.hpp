// The scheduling policy of the link emulator, which shares the CPUs of a machine with the hosts.
#pragma once

#include <chrono>
#include <cstddef>

#include "util/stop_signal.hpp"

namespace emulator {

/// Under high load, this thread does not preempt others (SCHED_BATCH, sched(7)): it wakes up for
/// several frames instead of interrupting the sending host for each frame. Under low load it runs
/// immediately, because the peer waits for a single frame.
class Load {
  public:
    /// High load: more bytes per second than this.
    static constexpr std::size_t much = std::size_t{8} << 20U;
    static constexpr std::chrono::milliseconds window{20};

    /// `bytes`: the total on the link so far. Call it often. Returns true if the policy changed.
    bool update(std::size_t bytes, util::Clock::time_point now);
    bool is_high() const { return is_high_; }

  private:
    util::Clock::time_point begin_{};
    std::size_t before_ = 0;
    bool is_high_ = false;
};

}  // namespace emulator

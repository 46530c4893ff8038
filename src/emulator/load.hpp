// Who is to wait for whom when hosts and cable share a machine's few processors.
#pragma once

#include <chrono>
#include <cstddef>

#include "util/stop_signal.hpp"

namespace emulator {

/// While much crosses the link, this thread does not take the processor from the others
/// (SCHED_BATCH, sched(7)): it then wakes up for several frames, where it would have interrupted
/// the host that sends them for each. While little does, it runs at once: a frame that comes alone
/// is waited for.
class Load {
  public:
    /// More than this a second is much.
    static constexpr std::size_t much = std::size_t{8} << 20U;
    static constexpr std::chrono::milliseconds window{20};

    /// `bytes`: all that have crossed it so far. Often. True where the policy has changed.
    bool update(std::size_t bytes, util::Clock::time_point now);
    bool is_high() const { return is_high_; }

  private:
    util::Clock::time_point begin_{};
    std::size_t before_ = 0;
    bool is_high_ = false;
};

}  // namespace emulator

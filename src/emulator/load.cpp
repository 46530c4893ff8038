#include "emulator/load.hpp"

#include <sched.h>

namespace emulator {

bool Load::update(std::size_t bytes, util::Clock::time_point now) {
    const auto took = now - begin_;
    if (took < window)
        return false;
    const double a_second =
        static_cast<double>(bytes - before_) / std::chrono::duration<double>(took).count();
    begin_ = now;
    before_ = bytes;
    const bool is_high = a_second > static_cast<double>(much);
    if (is_high == is_high_)
        return false;
    is_high_ = is_high;
    // Needs no privilege. A failure costs only speed.
    const sched_param priority{};
    sched_setscheduler(0, is_high ? SCHED_BATCH : SCHED_OTHER, &priority);
    return true;
}

}  // namespace emulator

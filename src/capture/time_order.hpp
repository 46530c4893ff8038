// Captures whose frames are not in order of time: those of adapters with several queues, and files
// that were put together.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace capture {

class TimeOrder {
  public:
    void see(std::chrono::nanoseconds time) {
        if (time < newest_) {
            ++count_;
            farthest_ = std::max(farthest_, newest_ - time);
        } else {
            newest_ = time;
        }
    }

    /// One sentence for the user; empty: all frames are in order.
    std::string text() const {
        if (count_ == 0)
            return {};
        return fmt::format(
            "{} not in order of time, by up to {:.3f} ms: packets may look reordered that were "
            "not. "
            "'reordercap' sorts a capture.",
            count_ == 1 ? "1 frame is" : fmt::format("{} frames are", count_),
            std::chrono::duration<double, std::milli>(farthest_).count());
    }

  private:
    std::chrono::nanoseconds newest_{};
    std::chrono::nanoseconds farthest_{};
    std::uint64_t count_ = 0;
};

}  // namespace capture

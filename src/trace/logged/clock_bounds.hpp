// Bounds of the offset between the clock of a log and the capture's. A packet leaves after its work
// request was posted, and a completion is read after the packet that allowed it arrived. Each
// matched pair narrows the interval.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace logged {

/// The offset to add to the log's times to get the capture's, in nanoseconds.
class ClockBounds {
  public:
    /// `estimate`: an earlier measurement. Without one, the clocks are assumed to be equal.
    explicit ClockBounds(std::optional<std::int64_t> estimate = std::nullopt)
        : estimate_(estimate.value_or(0)), is_measured_(estimate.has_value()) {}

    /// Logged at `posted` (log's clock), and then on the wire at `seen` (capture's clock): the offset
    /// is at most their difference.
    void posted_before(std::int64_t posted, std::int64_t seen) {
        most_ = std::min(most_, seen - posted);
    }

    /// On the wire at `seen`, and then logged at `completed` (log's clock): the offset is at least
    /// their difference.
    void completed_after(std::int64_t completed, std::int64_t seen) {
        least_ = std::max(least_, seen - completed);
    }

    /// Returns the estimate if it is possible, otherwise the nearest possible offset. If clock
    /// drift makes the bounds contradict each other, or if nothing was measured and the clocks
    /// cannot be equal, returns the middle of the bounds.
    std::int64_t shift() const {
        const bool is_possible = least_ <= estimate_ && estimate_ <= most_;
        if (least_ > most_ || (!is_measured_ && !is_possible && known()))
            return least_ / 2 + most_ / 2;
        return std::clamp(estimate_, least_, most_);
    }

    /// The smallest possible offset; of bounds that contradict each other, their middle.
    std::int64_t smallest() const {
        return least_ > most_ ? shift() : std::clamp(std::int64_t{0}, least_, most_);
    }

    /// By how much the bounds exclude each other: the clocks drift, or a pair does not match. 0: they
    /// do not.
    std::int64_t contradiction() const { return std::max<std::int64_t>(least_ - most_, 0); }

    bool known() const { return least_ != unknown_least && most_ != unknown_most; }
    /// Half the width of the interval; meaningful when known().
    std::int64_t uncertainty() const {
        return (most_ > least_ ? most_ - least_ : least_ - most_) / 2;
    }

  private:
    static constexpr std::int64_t unknown_least = std::numeric_limits<std::int64_t>::min() / 4;
    static constexpr std::int64_t unknown_most = std::numeric_limits<std::int64_t>::max() / 4;

    std::int64_t estimate_;
    bool is_measured_;
    std::int64_t least_ = unknown_least;
    std::int64_t most_ = unknown_most;
};

}  // namespace logged

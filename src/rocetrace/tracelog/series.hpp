// How a count changes over time, in bounded memory: its extreme in each of a few equal intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracelog {

class Series {
  public:
    enum class Keeps { least, most };

    explicit Series(Keeps keeps) : keeps_(keeps) {}

    /// Adds the count from `t_ns` on (nanoseconds). Times must not decrease; one before the first
    /// interval counts in it.
    void add(std::int64_t t_ns, std::uint64_t count);

    /// The extreme in each of at most `most` (1 to 64) equal intervals, from the first count to the
    /// last; empty if no count was added.
    std::vector<std::uint64_t> intervals(std::size_t most) const;
    /// From the first count to the last, nanoseconds.
    std::int64_t duration_ns() const { return end_ns_ - begin_ns_; }

  private:
    std::uint64_t extreme(std::uint64_t a, std::uint64_t b) const;
    void halve();

    Keeps keeps_;
    std::int64_t begin_ns_ = 0;
    std::int64_t end_ns_ = 0;
    std::int64_t width_ns_ = 1;
    std::uint64_t count_ = 0;               // the latest
    std::vector<std::uint64_t> intervals_;  // at most 64, each of width_ns_
};

}  // namespace tracelog

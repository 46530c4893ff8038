// Times in a histogram of fixed precision, in the manner of HdrHistogram: buckets of equal width
// within each power of two. Most streams never have a latency, and those that have one meet few
// powers of two, so that a power of two takes memory with its first sample.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/flow/pool.hpp"

namespace flow {

/// Nanoseconds. The percentiles are off by at most 1/64, 1.6 %, and exact below 64 ns.
struct LatencySummary {
    std::uint64_t count = 0;
    std::int64_t p50 = 0;
    std::int64_t p99 = 0;
    std::int64_t max = 0;  ///< exact
    /// Samples that found no room: they count in `count` and `max` but not in the percentiles.
    std::uint64_t left_out = 0;
};

class Latency {
  public:
    static constexpr std::uint32_t buckets = 32;
    /// Counts of the buckets of one power of two; or, once a histogram, where those are.
    using Page = std::array<std::uint32_t, buckets>;
    using Pages = Pool<Page>;

    /// Less than 0 (packets in the wrong order) counts as 0; 2^36 ns, 69 s, and more as one.
    void add(std::int64_t ns, Pages& pages);

    LatencySummary summary(const Pages& pages) const;

    /// Gives the memory back; to be called before the end.
    void release(Pages& pages);

  private:
    std::uint32_t* counter(std::uint64_t ns, Pages& pages);
    std::int64_t percentile(std::uint64_t per_hundred, const Pages& pages) const;

    std::uint64_t count_ = 0;
    std::uint64_t left_out_ = 0;
    std::uint64_t min_ = UINT64_MAX;
    std::uint64_t max_ = 0;
    PoolIndex directory_ = no_index;  // a Page with 1 + the index of each power of two's page
};

}  // namespace flow

// Latencies in a histogram of fixed precision, like HdrHistogram: buckets of equal width within
// each power of two. Most streams have no latency, and the others use few powers of two. So a power
// of two takes memory only from its first sample on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/flow/pool.hpp"

namespace flow {

/// Nanoseconds. The error of the percentiles is at most 1/64, 1.6 %; below 64 ns they are exact.
struct LatencySummary {
    std::uint64_t count = 0;
    std::int64_t p50 = 0;
    std::int64_t p99 = 0;
    std::int64_t max = 0;  ///< exact
    /// Samples without memory: included in `count` and `max`, but not in the percentiles.
    std::uint64_t left_out = 0;
};

class Latency {
  public:
    static constexpr std::uint32_t buckets = 32;
    /// The counts of one power of two's buckets, or the directory of a histogram's pages.
    using Page = std::array<std::uint32_t, buckets>;
    using Pages = Pool<Page>;

    /// Negative times (packets out of order) count as 0. Times from 2^36 ns, 69 s, share a bucket.
    void add(std::int64_t ns, Pages& pages);

    LatencySummary summary(const Pages& pages) const;

    /// Returns the memory to the pool. Must be called before destruction.
    void release(Pages& pages);

  private:
    std::uint32_t* counter(std::uint64_t ns, Pages& pages);
    std::int64_t percentile(std::uint64_t per_hundred, const Pages& pages) const;

    std::uint64_t count_ = 0;
    std::uint64_t left_out_ = 0;
    std::uint64_t min_ = UINT64_MAX;
    std::uint64_t max_ = 0;
    PoolIndex directory_ = no_index;  // a Page with 1 + the page index of each power of two
};

}  // namespace flow

// Payload over time, in a limited number of equal intervals, however long the capture is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace page {

/// Streams that are counted separately. Ahead is client to server.
enum class Stream : std::uint8_t { RoceAhead, RoceBack, TcpAhead, TcpBack };

class Throughput {
  public:
    static constexpr std::size_t streams = 4;
    using Sums = std::array<std::vector<std::uint64_t>, streams>;  // bytes, by Stream

    /// `t_ns`: since the capture's first packet; negative values count as 0.
    void add(Stream stream, std::int64_t t_ns, std::uint64_t bytes);

    /// Length of an interval in nanoseconds.
    std::int64_t width() const { return width_; }
    const Sums& sums() const { return sums_; }

  private:
    void widen();

    static constexpr std::size_t most_parts = 2048;
    std::int64_t width_ = 1000;
    Sums sums_;
};

}  // namespace page

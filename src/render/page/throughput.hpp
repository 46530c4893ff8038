// Payload over time, counted in at most so many equal parts, however long the capture is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace page {

/// What is counted apart. Client to server is Ahead.
enum class Stream : std::uint8_t { RoceAhead, RoceBack, TcpAhead, TcpBack };

class Throughput {
  public:
    static constexpr std::size_t streams = 4;
    using Sums = std::array<std::vector<std::uint64_t>, streams>;  // bytes, by Stream

    /// `t_ns`: since the capture's first packet; one before that counts as at 0.
    void add(Stream stream, std::int64_t t_ns, std::uint64_t bytes);

    /// Nanoseconds of a part.
    std::int64_t width() const { return width_; }
    const Sums& sums() const { return sums_; }

  private:
    void widen();

    static constexpr std::size_t most_parts = 2048;
    std::int64_t width_ = 1000;
    Sums sums_;
};

}  // namespace page

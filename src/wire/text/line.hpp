// The listing: a line for each packet, with number, time and addresses in front of its summary.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/cursor.hpp"
#include "util/style.hpp"
#include "wire/packet.hpp"

namespace wire {

/// Keeps what lines have in common: the time from which they count, and the widths of the columns
/// so far.
class Listing {
  public:
    explicit Listing(util::TextStyle style = util::TextStyle()) : style_(style) {}

    /// `time` of the capture's first packet, since 1970. Later calls change nothing.
    void begin(std::chrono::nanoseconds time) {
        if (!first_)
            first_ = time;
    }

    /// Ends in a line feed. `number` counts from 1; `time` since 1970, shown in seconds since
    /// begin()'s, or the first line's.
    std::string line(std::uint64_t number, std::chrono::nanoseconds time, const Packet& packet,
                     util::Bytes frame);
    /// The same behind `out`, allocating no more than append_summary(). `upper`: what the layer
    /// above says in the packet, if anything; it ends the line.
    void append(std::string& out, std::uint64_t number, std::chrono::nanoseconds time,
                const Packet& packet, util::Bytes frame, std::string_view upper = {});

  private:
    util::TextStyle style_;
    std::optional<std::chrono::nanoseconds> first_;
    std::size_t source_width_ = 0;
    std::size_t destination_width_ = 0;
};

}  // namespace wire

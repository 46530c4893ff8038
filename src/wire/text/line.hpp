// The listing: one line per packet, with number, time and addresses before its summary.
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

/// State shared by all lines: the start of time, and the current widths of the columns.
class Listing {
  public:
    /// `columns`: of the terminal, where lines are wrapped; 0: nowhere.
    explicit Listing(util::TextStyle style = util::TextStyle(), std::size_t columns = 0)
        : style_(style), columns_(columns) {}

    /// `time`: that of the capture's first packet, since 1970. Later calls have no effect.
    void begin(std::chrono::nanoseconds time) {
        if (!first_)
            first_ = time;
    }

    /// Ends in a line feed. `number` counts from 1. `time` is since 1970, and is shown in seconds
    /// since begin() or since the first line.
    std::string line(std::uint64_t number, std::chrono::nanoseconds time, const Packet& packet,
                     util::Bytes frame);
    /// Appends the same line to `out`, with no more allocation than add_summary(). `upper`:
    /// summary of the upper layer's message, if any; it ends the line.
    void append(std::string& out, std::uint64_t number, std::chrono::nanoseconds time,
                const Packet& packet, util::Bytes frame, std::string_view upper = {});

    /// Equal listings write the same lines.
    friend bool operator==(const Listing&, const Listing&) = default;

  private:
    void compose(std::string& out, std::uint64_t number, std::chrono::nanoseconds time,
                 const Packet& packet, util::Bytes frame, std::string_view upper);

    util::TextStyle style_;
    std::size_t columns_;
    std::optional<std::chrono::nanoseconds> first_;
    std::size_t source_width_ = 0;
    std::size_t destination_width_ = 0;
};

}  // namespace wire

// The rows of a timeline as lines: a program's event, or a packet with its cause.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runlog/event.hpp"
#include "trace/timeline/matcher.hpp"
#include "trace/timeline/packet_row.hpp"
#include "trace/timeline/timeline.hpp"
#include "util/style.hpp"

namespace render {

class TimelineText {
  public:
    /// `addresses`: role -> IP address, so that a packet's direction reads "client → server".
    /// `columns`: longer lines are wrapped and indented; 0: no limit.
    TimelineText(util::TextStyle style, const std::map<std::string, std::string>& addresses,
                 std::size_t columns = 0);

    /// Ends in a line feed. Times are seconds since the first row.
    std::string line(const timeline::Row& row);
    std::string line(std::int64_t t_ns, const runlog::Event& event);
    /// `packet`: its summary, which replaces the row's text.
    std::string line(const timeline::PacketRow& row, std::string_view packet);

    /// A line or two: which events and packets a listing holds, and how certain its order is.
    static std::string summary(const timeline::Matcher& run, bool has_logs = true);

  private:
    std::string time(std::int64_t t_ns);
    std::string finished(std::string text) const;
    std::string_view who(const std::string& address) const;

    util::TextStyle style_;
    std::size_t columns_;
    std::map<std::string, std::string> roles_;  // IP address -> role, or what replaces it
    std::optional<std::int64_t> first_ns_;
};

}  // namespace render

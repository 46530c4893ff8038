// Lesson 09, the client: what the measured windows mean for a blind attacker, as a table.
#pragma once

#include <string_view>

#include "odds.hpp"
#include "runlog/log.hpp"
#include "window.hpp"

namespace lesson09 {

struct Measured {
    Window write, ack, nak, read_response;
    double rate = 0;  // packets per second that the server's device accepts
    std::size_t frame_bytes = 0;
    bool are_indices_known = false;  // 24 of an rkey's 32 bits can be predicted
};

/// The packets that a blind attacker must send, by what is unknown. A wrong rkey with the right PSN
/// breaks the connection, so guessing the rkey takes as many connections, too.
class OddsTable {
  public:
    OddsTable(const Measured& measured, runlog::Log& log) : measured_(measured), log_(log) {}

    void write() const {
        constexpr double bits_24 = psn_count;
        constexpr double bits_32 = 4294967296.0;
        constexpr double bits_8 = 256;
        const auto hits = [](const Window& window) { return static_cast<double>(window.size()); };
        const double writes = hits(measured_.write);
        line("not known to the attacker", "one packet in", "at 100 Gbit/s", "at 10 Gbit/s",
             "this lab");
        row("change memory: the PSN", {bits_24, writes});
        row("change memory: PSN and QPN", {bits_24 * bits_24, writes});
        if (measured_.are_indices_known)
            row("change memory: PSN and 8 bits of rkey", {bits_24 * bits_8, writes});
        row("change memory: PSN and 32 bits of rkey", {bits_24 * bits_32, writes});
        row("break the connection by a WRITE: PSN", {bits_24, writes});
        row("complete a request by an ACK: PSN", {bits_24, hits(measured_.ack)});
        row("break the connection by a NAK: PSN", {bits_24, hits(measured_.nak)});
        row("respond to a READ: PSN", {bits_24, hits(measured_.read_response)});
        row("replay: until its PSN is used again", {bits_24, 1});
    }

  private:
    void row(std::string_view what, const Odds& odds) const {
        constexpr double gigabit = 1e9;
        const auto time = [&](double rate) { return duration_text(odds.seconds(rate)); };
        if (odds.hits > 0)
            line(what, count_text(odds.packets()),
                 time(line_rate(100 * gigabit, measured_.frame_bytes)),
                 time(line_rate(10 * gigabit, measured_.frame_bytes)), time(measured_.rate));
        else
            line(what, "none", "", "", "");
    }
    void line(std::string_view what, std::string_view packets, std::string_view at_100g,
              std::string_view at_10g, std::string_view here) const {
        log_.note(fmt::format("{:<42}  {:>13}  {:>13}  {:>13}  {:>9}", what, packets, at_100g,
                              at_10g, here));
    }

    const Measured& measured_;
    runlog::Log& log_;
};

}  // namespace lesson09

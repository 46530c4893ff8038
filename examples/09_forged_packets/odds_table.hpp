// Lesson 09, the client: what the measured windows mean for a blind attacker, as a table.
#pragma once

#include <string_view>
#include <vector>

#include "odds.hpp"
#include "runlog/log.hpp"
#include "window.hpp"

namespace lesson09 {

/// A kind of forged packet: the PSNs with which it is accepted, and the length of its frame.
struct Forgery {
    Window window;
    std::size_t frame_bytes = 0;

    double hits() const { return static_cast<double>(window.size()); }
};

struct Measured {
    Forgery write, ack, nak, read_response;
    std::size_t short_write_bytes = 0;  // frame of a WRITE of 4 bytes
    double rate = 0;                    // packets per second that the server's device accepts
    bool are_indices_known = false;     // 24 of an rkey's 32 bits can be predicted
};

struct OddsRow {
    std::string_view what;
    std::size_t frame_bytes = 0;
    Odds odds;
};

/// The packets that a blind attacker must send, by what is unknown. A wrong rkey with the right PSN
/// breaks the connection, so guessing the rkey takes as many connections. To break it, a WRITE of a
/// few bytes is enough: the device looks up the rkey of each WRITE that is not empty.
inline std::vector<OddsRow> odds_of(const Measured& measured) {
    constexpr double bits_24 = psn_count;
    constexpr double bits_32 = 4294967296.0;
    constexpr double bits_8 = 256;
    const Forgery& write = measured.write;
    const Forgery& ack = measured.ack;
    const Forgery& nak = measured.nak;
    const Forgery& read = measured.read_response;
    std::vector<OddsRow> rows{
        {"change memory: the PSN", write.frame_bytes, {bits_24, write.hits()}},
        {"change memory: PSN and QPN", write.frame_bytes, {bits_24 * bits_24, write.hits()}},
        {"change memory: PSN and 32 bits of rkey",
         write.frame_bytes,
         {bits_24 * bits_32, write.hits()}},
        {"break the connection by a WRITE: PSN",
         measured.short_write_bytes,
         {bits_24, write.hits()}},
        {"complete a request by an ACK: PSN", ack.frame_bytes, {bits_24, ack.hits()}},
        {"break the connection by a NAK: PSN", nak.frame_bytes, {bits_24, nak.hits()}},
        {"respond to a READ: PSN", read.frame_bytes, {bits_24, read.hits()}},
        {"replay: until its PSN is used again", write.frame_bytes, {bits_24, 1}}};
    if (measured.are_indices_known)
        rows.insert(rows.begin() + 2, {"change memory: PSN and 8 bits of rkey",
                                       write.frame_bytes,
                                       {bits_24 * bits_8, write.hits()}});
    return rows;
}

class OddsTable {
  public:
    OddsTable(const Measured& measured, runlog::Log& log) : measured_(measured), log_(log) {}

    void write() const {
        line("not known to the attacker", "frame", "one packet in", "at 100 Gbit/s", "at 10 Gbit/s",
             "this lab");
        for (const OddsRow& row : odds_of(measured_))
            write(row);
    }

  private:
    void write(const OddsRow& row) const {
        constexpr double gigabit = 1e9;
        const auto time = [&](double rate) { return duration_text(row.odds.seconds(rate)); };
        const std::string frame = fmt::format("{} B", row.frame_bytes);
        if (row.odds.hits > 0)
            line(row.what, frame, count_text(row.odds.packets()),
                 time(line_rate(100 * gigabit, row.frame_bytes)),
                 time(line_rate(10 * gigabit, row.frame_bytes)), time(measured_.rate));
        else
            line(row.what, frame, "none", "", "", "");
    }
    void line(std::string_view what, std::string_view frame, std::string_view packets,
              std::string_view at_100g, std::string_view at_10g, std::string_view here) const {
        log_.note(fmt::format("{:<39}  {:>6}  {:>13}  {:>13}  {:>12}  {:>9}", what, frame, packets,
                              at_100g, at_10g, here));
    }

    const Measured& measured_;
    runlog::Log& log_;
};

}  // namespace lesson09

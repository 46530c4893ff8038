// A rule of the link emulator: an action and the packets that it applies to. Syntax:
//
//   drop                               WHICH   the packet is lost
//   duplicate [N times] [after TIME]   WHICH   N copies (1) follow, immediately or after TIME
//   delay TIME                         WHICH   the packet leaves after TIME
//   reorder by N                       WHICH   it leaves after the next N packets in its direction
//   corrupt [byte N] [with good icrc]  WHICH   inverts byte N, counted from the first of the BTH;
//                                              without N: the last byte before the ICRC
//   set FIELD to VALUE [with bad icrc] WHICH
//   mark                               WHICH   ECN: congestion experienced
//   cut for TIME at                    WHICH   drops it, then all from and to its sender
//   limit to RATE [queue N]            WHICH   at this rate; at most N packets (100) are queued
//
//   WHICH   packets | the Nth packet | packets N to M | every Nth packet |
//           SHARE of packets [seed N], then [from HOST] [to HOST] [where EXPRESSION]
//           (filter/where.hpp). "all packets" and "every packet" are "packets".
//   TIME    200us, 20ms, 1s     RATE   500kbit/s, 10Mbit/s, 1Gbit/s     SHARE   0.5%
//
// "packet" means a RoCE packet; "frame" and "frames" in its place mean any Ethernet frame. A rule
// counts, from 1, the packets that match HOST and EXPRESSION, as they arrive from their sender.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "emulator/writable_field.hpp"
#include "filter/where.hpp"
#include "wire/reseal.hpp"

namespace emulator {

using Nanoseconds = std::chrono::nanoseconds;

struct Drop {};
struct Duplicate {
    std::uint32_t copies = 1;
    Nanoseconds after{};
};
struct Delay {
    Nanoseconds time{};
};
struct Reorder {
    std::uint32_t by = 1;
};
struct Corrupt {
    std::optional<std::uint32_t> byte;
    wire::IcrcAfter icrc = wire::IcrcAfter::Left;
};
struct Set {
    const filter::Field* field = nullptr;
    std::uint64_t value = 0;
    wire::IcrcAfter icrc = wire::IcrcAfter::Good;
};
struct Mark {};
struct Cut {
    Nanoseconds time{};
};
struct Limit {
    std::uint64_t bits_per_second = 0;
    std::uint32_t queue = 100;  ///< packets
};
using Action = std::variant<Drop, Duplicate, Delay, Reorder, Corrupt, Set, Mark, Cut, Limit>;

/// "drop", "duplicate", …: the first word of the rule and the name of the event in the log.
std::string_view name_of(const Action& action);

struct Which {
    enum class Kind : std::uint8_t { All, Range, Every, Share };
    Kind kind = Kind::All;
    std::uint64_t first = 1;  ///< for Range: from 1
    std::uint64_t last = 1;
    std::uint64_t every = 1;
    double share = 1;        ///< for Share: 0 to 1
    std::uint64_t seed = 1;  ///< the same seed selects the same packets
};

struct Rule {
    std::string text;  ///< as written
    Action action;
    Which which;
    bool any_frame = false;  ///< not only RoCE
    std::string from;        ///< a host's name; empty: any
    std::string to;
    std::optional<filter::Where> where;
};

/// Throws filter::SyntaxError with the column. `hosts`: the names of all hosts.
Rule parse_rule(std::string_view text, const std::vector<std::string>& hosts);

/// Parses one rule a line. A '#' outside of quotes, at the start of a word, begins a comment.
/// Throws util::Error with the line number.
std::vector<Rule> parse_rules(std::string_view text, const std::vector<std::string>& hosts);

}  // namespace emulator

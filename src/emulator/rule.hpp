// A rule of the link emulator: what is done to which of the packets that cross it. In words:
//
//   drop                                  WHICH   it is gone
//   duplicate [N times] [after TIME]      WHICH   N more of it follow (1), at once or after TIME
//   delay TIME                            WHICH   it goes on later
//   reorder by N                          WHICH   it goes on behind the next N packets that go the same way
//   corrupt [byte N] [with good icrc]     WHICH   the byte, counted from the BTH's first, is inverted;
//                                                 without N the last one before the ICRC
//   set FIELD to VALUE [with bad icrc]    WHICH
//   mark                                  WHICH   ECN: congestion experienced
//   cut for TIME at                       WHICH   it and all that its sender sends or is sent in that time
//   limit to RATE [queue N]               WHICH   at this rate, N packets waiting at most (100)
//
//   WHICH   packets | the Nth packet | packets N to M | every Nth packet | SHARE of packets [seed N]
//           and then [from HOST] [to HOST] [where EXPRESSION]      (filter/where.hpp)
//   TIME    200us, 20ms, 1s     RATE   500kbit/s, 10Mbit/s, 1Gbit/s     SHARE   0.5%
//
// A packet is one of RoCE; "frame" and "frames" in its place are all that Ethernet carries. Counted
// is what HOST and EXPRESSION leave, from 1, as it comes from its sender.
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
    const WritableField* field = nullptr;
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

/// "drop", "duplicate", …: as the rule begins, and as the event in the log is called.
std::string_view name_of(const Action& action);

struct Which {
    enum class Kind : std::uint8_t { All, Range, Every, Share };
    Kind kind = Kind::All;
    std::uint64_t first = 1;  ///< of Range: from 1
    std::uint64_t last = 1;
    std::uint64_t every = 1;
    double share = 1;        ///< of Share: 0 to 1
    std::uint64_t seed = 1;  ///< the same seed takes the same packets
};

struct Rule {
    std::string text;  ///< as it was written
    Action action;
    Which which;
    bool any_frame = false;  ///< not RoCE alone
    std::string from;        ///< a host; empty: any
    std::string to;
    std::optional<filter::Where> where;
};

/// Throws filter::SyntaxError with the column. `hosts`: the names that there are.
Rule parse_rule(std::string_view text, const std::vector<std::string>& hosts);

/// A rule a line; a '#' that begins a word begins a comment, outside of quotes. Throws util::Error
/// with the number of the line.
std::vector<Rule> parse_rules(std::string_view text, const std::vector<std::string>& hosts);

}  // namespace emulator

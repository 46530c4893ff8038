// Lesson 09, the attacker: how long a blind attacker needs to guess.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace lesson09 {

/// Of `space` equally likely combinations, `hits` have the effect that the attacker wants.
struct Odds {
    double space = 1;
    double hits = 1;

    /// Packets needed to be sure of a hit: about twice the average.
    double packets() const { return space / hits; }
    double seconds(double packets_per_second) const { return packets() / packets_per_second; }
};

/// Packets per second on a link of `bits_per_second`. `frame_bytes`: without the FCS. Each frame
/// takes 24 more bytes on the wire: preamble, FCS and interframe gap (IEEE 802.3).
inline double line_rate(double bits_per_second, std::size_t frame_bytes) {
    constexpr std::size_t around_a_frame = 24;
    constexpr std::size_t shortest_frame = 60;
    constexpr double bits_per_byte = 8;
    return bits_per_second /
           (bits_per_byte *
            static_cast<double>(std::max(frame_bytes, shortest_frame) + around_a_frame));
}

/// "140 ms", "8.2 min", "26 days", "18 years".
inline std::string duration_text(double seconds) {
    struct Unit {
        double seconds;
        std::string_view name;
    };
    constexpr std::array units{Unit{365.25 * 86400, "years"},
                               Unit{86400, "days"},
                               Unit{3600, "h"},
                               Unit{60, "min"},
                               Unit{1, "s"},
                               Unit{1e-3, "ms"},
                               Unit{1e-6, "us"},
                               Unit{1e-9, "ns"}};
    const auto at =
        std::ranges::find_if(units, [&](const Unit& unit) { return seconds >= 2 * unit.seconds; });
    const Unit unit = at == units.end() ? units.back() : *at;
    const double count = seconds / unit.seconds;
    constexpr double shown_whole = 10;
    constexpr double shown_in_full = 1e5;
    return count < shown_whole     ? fmt::format("{:.1f} {}", count, unit.name)
           : count < shown_in_full ? fmt::format("{:.0f} {}", count, unit.name)
                                   : fmt::format("{:.1e} {}", count, unit.name);
}

/// "2", "16777216", "2.8e+14".
inline std::string count_text(double count) {
    constexpr double exact = 1e10;
    return count < exact ? fmt::format("{:.0f}", count) : fmt::format("{:.1e}", count);
}

}  // namespace lesson09

// Lesson 09, the attacker: finds by trial which PSNs around the expected one are accepted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include <fmt/format.h>

#include "util/error.hpp"

namespace lesson09 {

inline constexpr std::uint32_t psn_count = 1U << 24;
inline constexpr std::int32_t lowest_offset = -(1 << 23);
inline constexpr std::int32_t highest_offset = (1 << 23) - 1;

/// Offsets from the expected PSN, both inclusive; empty if `lowest` is above `highest`.
struct Window {
    std::int32_t lowest = 0;
    std::int32_t highest = -1;
    unsigned probes = 0;  ///< number of PSNs tried

    std::uint32_t size() const {
        return lowest > highest ? 0 : static_cast<std::uint32_t>(highest - lowest) + 1;
    }
    bool operator==(const Window&) const = default;
};

/// Returns true if the PSN at this offset is accepted.
using Accepts = std::function<bool(std::int32_t offset)>;

/// Returns the last accepted offset from 0 outwards. `stations`: offsets to try first, in ascending
/// distance.
inline std::int32_t edge(const std::array<std::int32_t, 3>& stations, const Accepts& accepts) {
    std::int32_t inside = 0;
    std::int32_t outside = 0;
    for (const std::int32_t station : stations) {
        const bool is_accepted = accepts(station);
        if (is_accepted && outside != 0)
            throw util::Error(
                fmt::format("PSN {:+} was accepted although {:+} was not: the accepted PSNs are "
                            "not contiguous.",
                            station, outside));
        if (is_accepted)
            inside = station;
        else if (outside == 0)
            outside = station;
    }
    if (outside == 0)
        return inside;
    while (outside - inside > 1 || inside - outside > 1) {
        const std::int32_t middle = inside + (outside - inside) / 2;
        (accepts(middle) ? inside : outside) = middle;
    }
    return inside;
}

/// Tries the expected PSN and fixed offsets on both sides, and then bisects between the farthest
/// accepted and the nearest refused offset. The result is the whole window if it is contiguous and
/// includes the expected PSN. Calls `accepts` at most once per offset. Throws util::Error if the
/// fixed offsets show a gap.
inline Window measure_window(const Accepts& accepts) {
    Window window;
    const auto count = [&](std::int32_t offset) {
        ++window.probes;
        return accepts(offset);
    };
    const bool has_middle = count(0);
    const std::int32_t lowest = edge({-1, -1000, lowest_offset}, count);
    const std::int32_t highest = edge({1, 1000, highest_offset}, count);
    if (has_middle) {
        window.lowest = lowest;
        window.highest = highest;
    } else if (lowest != 0 || highest != 0) {
        throw util::Error(
            "the expected PSN was refused although the PSNs next to it were accepted.");
    }
    return window;
}

}  // namespace lesson09

// Step 09, the attacker: which PSNs around an expected one are accepted, found by trying.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include <fmt/format.h>

#include "util/error.hpp"

namespace step09 {

inline constexpr std::uint32_t psn_count = 1U << 24;
inline constexpr std::int32_t lowest_offset = -(1 << 23);
inline constexpr std::int32_t highest_offset = (1 << 23) - 1;

/// Offsets from the expected PSN, both included; none where `lowest` is above `highest`.
struct Window {
    std::int32_t lowest = 0;
    std::int32_t highest = -1;
    unsigned probes = 0;  ///< PSNs that were tried

    std::uint32_t size() const {
        return lowest > highest ? 0 : static_cast<std::uint32_t>(highest - lowest) + 1;
    }
    bool operator==(const Window&) const = default;
};

/// Whether the PSN at this offset is accepted.
using Accepts = std::function<bool(std::int32_t offset)>;

/// The last accepted offset going from 0 through `stations`, each farther out than the one before.
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

/// Tries the expected PSN, some at fixed distances to both sides, and then halves the distance
/// between the farthest accepted and the nearest refused one until they are neighbours. What is
/// found is the whole window where it has no holes and the expected PSN is in it. `accepts` is
/// called at most once for each offset. Throws util::Error where the fixed ones show a hole.
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

}  // namespace step09

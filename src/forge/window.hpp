// Which PSNs around an expected one are accepted, found by trying.
#pragma once

#include <cstdint>
#include <functional>

namespace forge {

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

/// Tries the expected PSN, some at fixed distances to both sides, and then halves the distance
/// between the farthest accepted and the nearest refused one until they are neighbours. What is
/// found is the whole window where it has no holes and the expected PSN is in it. `accepts` is
/// called at most once for each offset. Throws util::Error where the fixed ones show a hole.
Window measure_window(const std::function<bool(std::int32_t offset)>& accepts);

}  // namespace forge

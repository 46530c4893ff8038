#include "forge/window.hpp"

#include <array>

#include <fmt/format.h>

#include "util/error.hpp"

namespace forge {
namespace {

// The last accepted offset going from 0 through `stations`, each farther out than the one before.
template <typename Accepts>
std::int32_t edge(const std::array<std::int32_t, 3>& stations, const Accepts& accepts) {
    std::int32_t inside = 0;
    std::int32_t outside = 0;
    for (const std::int32_t station : stations) {
        const bool is_accepted = accepts(station);
        if (is_accepted && outside != 0)
            throw util::Error(fmt::format(
                "PSN {:+} was accepted although {:+} was not: this is no window of neighbours.",
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

}  // namespace

Window measure_window(const std::function<bool(std::int32_t offset)>& accepts) {
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
        throw util::Error("the expected PSN was refused although its neighbours were not.");
    }
    return window;
}

}  // namespace forge

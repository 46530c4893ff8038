// Exact percentiles of measurements: all values are kept.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace util {

/// Returns the smallest value that at least `percent` of the values do not exceed (nearest rank); 0
/// if there are none.
template <typename T>
T percentile(std::vector<T> values, double percent) {
    if (values.empty())
        return T{};
    const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
    std::ranges::nth_element(values, at);
    return *at;
}

}  // namespace util

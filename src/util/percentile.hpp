// Percentiles of what was measured, exactly: every value is kept.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace util {

/// The smallest of the values that `percent` of them do not exceed (nearest rank); 0 of none.
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

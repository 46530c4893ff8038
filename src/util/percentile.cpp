#include "util/percentile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace util {

double percentile(std::vector<double> values, double percent) {
    if (values.empty())
        return 0;
    const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
    const auto index = static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
    std::ranges::nth_element(values, values.begin() + index);
    return values[static_cast<std::size_t>(index)];
}

}  // namespace util

#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bench {

double percentile(std::vector<double> values, double percent) {
    if (values.empty())
        return 0;
    const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
    const auto index = static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
    std::ranges::nth_element(values, values.begin() + index);
    return values[static_cast<std::size_t>(index)];
}

Spread spread_of(const std::vector<double>& values) {
    return {percentile(values, 25), percentile(values, 50), percentile(values, 75)};
}

Spread ratios(const std::vector<double>& values, const std::vector<double>& base) {
    if (values.size() != base.size())
        throw std::invalid_argument("ratios: not measured in turns");
    std::vector<double> quotients(values.size());
    std::ranges::transform(values, base, quotients.begin(), std::divides());
    return spread_of(quotients);
}

}  // namespace bench

#include "bench/statistics.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace bench {

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

// Median and spread of measured values.
#pragma once

#include <vector>

#include "util/percentile.hpp"

namespace bench {

using util::percentile;

/// The median of the values, and the quartiles.
struct Spread {
    double q1 = 0;
    double median = 0;
    double q3 = 0;
};
Spread spread_of(const std::vector<double>& values);

/// For values measured in turns: the spread of `values[i] / base[i]`. Throws std::invalid_argument
/// if their numbers differ.
Spread ratios(const std::vector<double>& values, const std::vector<double>& base);

}  // namespace bench

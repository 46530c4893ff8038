// How measured values lie: where the middle of them is, and how far the rest.
#pragma once

#include <vector>

#include "util/percentile.hpp"

namespace bench {

using util::percentile;

/// The middle of the values, and the range that the half in the middle of them lies in.
struct Spread {
    double q1 = 0;
    double median = 0;
    double q3 = 0;
};
Spread spread_of(const std::vector<double>& values);

/// Of values measured in turns: the spread of `values[i] / base[i]`. Throws std::invalid_argument
/// where they are not equally many.
Spread ratios(const std::vector<double>& values, const std::vector<double>& base);

}  // namespace bench

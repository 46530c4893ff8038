// Percentiles of what was measured, exactly: every value is kept.
#pragma once

#include <vector>

namespace util {

/// The smallest of the values that `percent` of them do not exceed (nearest rank); 0 of none.
double percentile(std::vector<double> values, double percent);

}  // namespace util

// The table of work requests: the packets of each, and the duration of its phases.
#pragma once

#include <string>

#include "trace/timeline/matcher.hpp"

namespace render {

/// One line per work request for the first dozen, then the median and the 99th percentile of all.
/// An error is on the request's line, or on the next line if it does not fit. Empty if nothing was
/// posted. At most 100 columns if counts of packets have no more than three digits.
std::string work_request_table(const timeline::Matcher& run);

}  // namespace render

// The table of work requests: the packets of each, and the time that each phase took.
#pragma once

#include <string>

#include "trace/timeline/matcher.hpp"

namespace render {

/// A line a work request, the first dozen of them, and below that what half and what 99 of 100 of
/// all took; an error below its request where there is no room beside it. Empty where nothing was
/// posted. 100 columns at most, where counts of packets have no more than three digits.
std::string work_request_table(const timeline::Matcher& run);

}  // namespace render

// What became of each work request: its packets, and where its time went.
#pragma once

#include <string>

#include "timeline/timeline.hpp"

namespace report {

/// A line a work request, the first dozen of them, and below that what half and what 99 of 100 of
/// all took. Empty where nothing was posted. 100 columns at most.
std::string work_request_table(const timeline::Timeline& timeline);

}  // namespace report

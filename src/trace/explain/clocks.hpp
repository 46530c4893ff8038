// Whether the clocks of the logs agree with the capture's, and by how much they do not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/explain/direction.hpp"

namespace explain {

/// Less than this is not worth a word: NTP may be no better.
inline constexpr std::int64_t usual_clock_error_ns = 200'000'000;

/// By role, what to add to its times to get the capture's, in nanoseconds. Without the roles whose
/// packets and events fit together as they are, within 20 ms, or with no offset: a clock was set, or
/// packets are forged.
using Offsets = std::map<std::string, std::int64_t>;
Offsets clock_offsets(const Directions& directions);

}  // namespace explain

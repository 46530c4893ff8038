// Whether the clocks of the logs agree with the capture's, and by how much they do not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/explain/direction.hpp"

namespace explain {

/// By role, what to add to its times to get the capture's, in nanoseconds. Without the roles whose
/// packets and events fit together as they are, within 20 ms, or not at all: several may have been
/// lost, or a clock was set.
std::map<std::string, std::int64_t> clock_offsets(const std::vector<Direction>& directions);

}  // namespace explain

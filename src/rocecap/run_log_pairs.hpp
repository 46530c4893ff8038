// What run logs tell of queue pairs and their peers.
#pragma once

#include <string>
#include <vector>

#include "flow/known_pairs.hpp"

namespace rocecap {

/// Of each file, the pairs of its qp_state events, on the host of its device events. Throws
/// util::Error for a file that cannot be read or that names no pair.
std::vector<flow::KnownPair> pairs_of(const std::vector<std::string>& run_logs);

}  // namespace rocecap

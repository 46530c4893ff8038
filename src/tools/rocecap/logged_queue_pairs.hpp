// Queue pairs and their peers according to the run logs of a command line.
#pragma once

#include <string>
#include <vector>

#include "trace/flow/known_pairs.hpp"

namespace rocecap {

/// Reads all logs. Throws util::Error for one that cannot be read or that names no queue pair.
std::vector<flow::KnownQueuePair> queue_pairs_of(const std::vector<std::string>& run_logs);

}  // namespace rocecap

// What run logs tell of queue pairs and their peers.
#pragma once

#include <string>
#include <vector>

#include "trace/flow/known_pairs.hpp"

namespace rocecap {

/// From the log's qp_state events: each queue pair and peer once, with the PSN of the first state in
/// which it could send; on the host of the log's device events, where these name only one. Empty
/// where the log cannot be read.
std::vector<flow::KnownQueuePair> queue_pairs_in(const std::string& run_log);

/// Of all files. Throws util::Error for a file that cannot be read or that names no queue pair.
std::vector<flow::KnownQueuePair> queue_pairs_of(const std::vector<std::string>& run_logs);

}  // namespace rocecap

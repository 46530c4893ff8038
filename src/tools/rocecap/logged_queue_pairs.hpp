// Queue pairs and their peers according to run logs.
#pragma once

#include <string>
#include <vector>

#include "trace/flow/known_pairs.hpp"

namespace rocecap {

/// From the log's qp_state events: each queue pair and peer once, with the PSN of the first state
/// in which it could send, and with the host if the log's device events name only one. Empty if the
/// log cannot be read.
std::vector<flow::KnownQueuePair> queue_pairs_in(const std::string& run_log);

/// Reads all logs. Throws util::Error for one that cannot be read or that names no queue pair.
std::vector<flow::KnownQueuePair> queue_pairs_of(const std::vector<std::string>& run_logs);

}  // namespace rocecap

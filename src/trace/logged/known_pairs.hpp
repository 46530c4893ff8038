// Queue pairs and their peers according to a run log.
#pragma once

#include <string>
#include <vector>

#include "trace/flow/known_pairs.hpp"

namespace logged {

/// From the log's qp_state events: each queue pair and peer once, with the PSN of the first state
/// in which it could send, and with the host if the log's device events name only one. Empty if the
/// log cannot be read.
std::vector<flow::KnownQueuePair> queue_pairs_in(const std::string& run_log);

}  // namespace logged

// What run logs tell of queue pairs and their peers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/flow/known_pairs.hpp"

namespace rocecap {

/// From the log's qp_state events: each queue pair and peer once, with the PSN of the first state in
/// which it could send; on the host of the log's device events, where these name only one. Empty
/// where the log cannot be read.
std::vector<flow::KnownQueuePair> queue_pairs_in(const std::string& run_log);

/// Of all files. Throws util::Error for a file that cannot be read or that names no queue pair.
std::vector<flow::KnownQueuePair> queue_pairs_of(const std::vector<std::string>& run_logs);

/// The host of a RoCE GID: IPv6, or IPv4 as ::ffff:a.b.c.d. nullopt where the text is no GID.
std::optional<flow::Host> host_of_gid(std::string_view gid);

}  // namespace rocecap

// Compares the connections that rocecap's commands report for the same capture.
#pragma once

#include <string>
#include <vector>

namespace support {

/// Expects that `flows`, `check`, `psns`, the timeline, the rules of `explain` and the queue pairs of
/// the logs agree on each connection of the capture: its two queue pairs and how they were paired,
/// its path MTU and its first PSNs. `logs`:
/// run logs; those without a queue pair and its peer are ignored. Returns the number of
/// connections.
std::size_t expect_connections_agree(const std::string& capture,
                                     const std::vector<std::string>& logs = {});

}  // namespace support

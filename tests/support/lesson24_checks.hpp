// Checks for all runs of lesson 24, on any number of machines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/lab.hpp"

namespace support {

/// One end of a connection in a rank's "record" event.
struct RankEnd {
    std::uint64_t qpn = 0;
    std::uint64_t psn = 0;
};

/// Returns the ends by round. `which`: "out" or "in".
std::vector<RankEnd> ends_of(const runlog::Event& record, const std::string& which);

/// Expects that each rank entered and left this number of barriers, and left each with the tickets
/// with which all ranks had entered it: numbers that did not exist before. It uses no clock.
void expect_barriers_held(const std::vector<std::vector<runlog::Event>>& logs, std::size_t ranks,
                          std::size_t barriers);

/// Finds the pid in the "record" lines that rank 0 printed.
std::string pid_of_rank(const std::string& output, unsigned rank);

}  // namespace support

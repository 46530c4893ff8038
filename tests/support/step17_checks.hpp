// What holds of every run of step 17, on however many machines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/lab.hpp"

namespace support {

/// One end of a connection, as a rank's "record" event names it.
struct RankEnd {
    std::uint64_t qpn = 0;
    std::uint64_t psn = 0;
};

/// `which`: "out" or "in"; by round.
std::vector<RankEnd> ends_of(const runlog::Event& record, const std::string& which);

/// Expects that each rank entered and left so many barriers, and left each with the tickets that
/// all had entered it with: numbers that did not exist before. No clock is asked.
void expect_barriers_held(const std::vector<std::vector<runlog::Event>>& logs, std::size_t ranks,
                          std::size_t barriers);

/// Of the "record" lines that rank 0 has printed.
std::string pid_of_rank(const std::string& output, unsigned rank);

}  // namespace support

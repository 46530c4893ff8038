// Runs programs for a benchmark, and measures their time and memory.
#pragma once

#include <string>
#include <vector>

namespace bench {

struct Usage {
    double wall_seconds = 0;
    double cpu_seconds = 0;  ///< user and system
    long peak_kib = 0;       ///< resident
    int exit_code = -1;      ///< -1: ended by a signal, or could not be started
};

/// `output`: file for standard output; standard error goes to /dev/null.
Usage run(const std::vector<std::string>& argv, const std::string& output = "/dev/null");

}  // namespace bench

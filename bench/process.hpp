// Runs programs for a benchmark: how long, with how much memory.
#pragma once

#include <string>
#include <vector>

namespace bench {

struct Usage {
    double wall_seconds = 0;
    double cpu_seconds = 0;  ///< user and system
    long peak_kib = 0;       ///< resident
    int exit_code = -1;      ///< -1: ended by a signal, or it could not be started
};

/// `output`: where its standard output goes; standard error goes to /dev/null.
Usage run(const std::vector<std::string>& argv, const std::string& output = "/dev/null");

}  // namespace bench

#include "tools/rocecap/logged_queue_pairs.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>

#include <fmt/format.h>

#include "trace/logged/known_pairs.hpp"
#include "util/error.hpp"

namespace rocecap {

std::vector<flow::KnownQueuePair> queue_pairs_of(const std::vector<std::string>& run_logs) {
    std::vector<flow::KnownQueuePair> all;
    for (const std::string& path : run_logs) {
        if (access(path.c_str(), R_OK) != 0)
            throw util::Error(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
        const auto found = logged::queue_pairs_in(path);
        if (found.empty())
            throw util::Error(fmt::format(
                "'{}' has no queue pair with a known peer: is it a run log (--run-log of a step)?",
                path));
        all.insert(all.end(), found.begin(), found.end());
    }
    return all;
}

}  // namespace rocecap

// The results as a table of at most 100 columns and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/setup/cmtime.hpp"
#include "bench/setup/connect.hpp"

namespace bench {

/// One method's connections, in the order of the rounds.
struct Series {
    const Method* method;
    Sample first;  ///< the first connection of the process, which does not count
    std::vector<Sample> samples;
};

struct Result {
    std::vector<Series> series;  ///< the others are compared with the first one
    std::size_t warm_up = 0;
    std::vector<CmtimeStep> cmtime;
};

std::string table(const Result& result);

/// Times in nanoseconds; ratios of totals, per round and of the medians.
nlohmann::ordered_json json(const Result& result);

}  // namespace bench

// What a run directory says of its connections beside the cable's capture.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/checker.hpp"

namespace rocecap {

struct RunFacts {
    std::map<std::string, std::string> roles;  // by address
    std::vector<conformance::KnownQueuePair> queue_pairs;
    std::map<std::uint64_t, conformance::Event> events;   // by frame
    std::map<std::uint64_t, std::string> rules;           // by frame: as they were written
    std::map<std::string, conformance::Counts> counters;  // by role: by how much they grew
    /// A host's own interface lost or reordered packets before the link saw them (netem).
    bool packets_may_be_missing = false;
};

/// From run.json, the run logs and cable.jsonl; what is not there is left out. Throws util::Error
/// where run.json is there and cannot be read.
RunFacts read_facts(const std::string& run_dir);

}  // namespace rocecap

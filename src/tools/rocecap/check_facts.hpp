// The facts about connections from a run directory or from run logs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/conformance/checker.hpp"

namespace rocecap {

struct RunFacts {
    std::map<std::string, std::string> roles;  // address -> role
    std::vector<flow::KnownQueuePair> queue_pairs;
    std::map<std::uint64_t, conformance::LinkAction> events;  // by frame
    std::map<std::uint64_t, std::string> rules;               // by frame, as written
    std::map<std::string, conformance::Counts> counters;      // by role: how much they grew
    /// A host's own interface lost or reordered packets before the link saw them (netem), or the
    /// capture dropped some.
    bool packets_may_be_missing = false;
    /// The capture of the run dropped no packet.
    bool has_all_packets = false;

    /// The address of the host with that role; nullopt if unknown.
    std::optional<flow::Host> host_of(const std::string& role) const;
};

/// Reads run.json, the run logs and link.jsonl, each if it exists. Throws util::Error if run.json
/// exists and cannot be read.
RunFacts read_facts(const std::string& run_dir);

/// Adds the facts from run logs. Prints a warning for an empty one; throws util::Error for one that
/// cannot be read or has no event.
void add_logs(const std::vector<std::string>& logs, RunFacts& facts);

/// `address`: a numeric IP address. nullopt if it is not valid.
std::optional<flow::Host> host_of_address(const std::string& address);

}  // namespace rocecap

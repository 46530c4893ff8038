// A run directory, and the contents of its run.json. Nothing else reads run.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace timeline {

/// Role of the log that the link emulator writes about its actions.
inline constexpr const char* link_role = "link";

/// A host of run.json. A value is empty if run.json does not have it, or not with that type: an
/// interrupted run has only its beginning.
struct RunHost {
    /// A counter of the port that the host uses. nullopt: not a whole number of 0 or more.
    struct Counter {
        std::string name;
        std::optional<std::uint64_t> before, after;  // the run
    };

    std::string role;
    std::string address;  // numeric IP address
    std::string interface;
    std::string device;
    std::string netem;  // as tc(8) prints it
    /// For people: numbers are text, too.
    std::string path_mtu, kernel, rdma_core, exit_code;
    std::optional<std::string> command;  // with its arguments
    std::vector<Counter> counters;       // those in both readings
};

/// As in RunHost, a value is empty if run.json does not have it.
struct RunInfo {
    std::string step;
    std::vector<std::string> roles;         // "server", "client", and further ones: "client2"
    bool ended = false;                     // run.json has the key "ended": the run is complete
    std::string started, backend, dropped;  // as text; dropped: packets, by the capture
    std::vector<std::string> link_rules;    // of the link emulator
    std::vector<RunHost> hosts;             // of all roles, in the order of run.json
    std::map<std::string, std::string> addresses;  // role -> numeric IP address
    std::map<std::string, std::int64_t>
        offsets;  // role -> clock offset in ns, as Timeline takes them

    /// nullptr: run.json does not have it.
    const RunHost* host(const std::string& role) const;
};

bool is_run_dir(const std::string& path);

/// The capture in a run directory, or in a folder of captures/samples, which has only the annotated
/// one. Empty if there is none.
std::string capture_in(const std::string& directory);

/// Reads the current run.json. Throws util::Error if it is not a JSON object. run.json is always
/// replaced as a whole, so it is never torn.
RunInfo read_run_info(const std::string& run_dir);

}  // namespace timeline

// The contents of a run directory's run.json that a timeline needs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace timeline {

/// Role of the log that the link emulator writes about its actions.
inline constexpr const char* link_role = "link";

struct RunInfo {
    std::string step;                // empty: unknown
    std::vector<std::string> roles;  // "server", "client", and further ones: "client2"
    bool ended = false;              // run.json has the key "ended": the run is complete
    std::map<std::string, std::string> addresses;   // role -> numeric IP address
    std::map<std::string, std::string> interfaces;  // role -> network interface
    std::map<std::string, std::int64_t>
        offsets;  // role -> clock offset in ns, as Timeline takes them
};

bool is_run_dir(const std::string& path);

/// The capture in a run directory, or in a folder of captures/samples, which has only the annotated
/// one. Empty if there is none.
std::string capture_in(const std::string& directory);

/// Reads the current run.json. Throws util::Error if it cannot be read. run.json is always replaced
/// as a whole, so it is never torn.
RunInfo read_run_info(const std::string& run_dir);

}  // namespace timeline

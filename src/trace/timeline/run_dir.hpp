// A run directory's run.json: what a timeline needs of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace timeline {

/// Whose log it is where the link between the hosts is a program that has done something to
/// packets.
inline constexpr const char* link_role = "cable";

struct RunInfo {
    std::string step;                // empty: unknown
    std::vector<std::string> roles;  // "server", "client", and further ones: "client2"
    bool ended = false;              // run.json has the key "ended": nothing will be added any more
    std::map<std::string, std::string> addresses;   // role -> IP address, digits
    std::map<std::string, std::string> interfaces;  // role -> network interface
    std::map<std::string, std::int64_t>
        offsets;  // role -> clock offset in ns, as Timeline takes them
};

bool is_run_dir(const std::string& path);

/// As run.json says now. Throws util::Error where it cannot be read; it is replaced as a whole,
/// never half-written.
RunInfo read_run_info(const std::string& run_dir);

}  // namespace timeline

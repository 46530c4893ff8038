// tshark with the default configuration: this user's configuration is ignored.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <unistd.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace wireshark_test {

inline constexpr const char* plugin = "wireshark/plugins/rdma_wire_lab.lua";

// A separate home folder for the test.
class Home {
  public:
    explicit Home(const std::string& name) : temp_("home_" + name) {
        std::filesystem::create_directories(path());
    }

    std::filesystem::path path() const { return temp_.str(); }
    std::filesystem::path config() const { return path() / ".config/wireshark"; }

    /// Runs a command with this home folder.
    support::Outcome run(const support::Argv& argv) const {
        return support::run(
            argv, {"HOME=" + temp_.str(), "XDG_CONFIG_HOME=" + (path() / ".config").string()},
            std::chrono::minutes(2));
    }

    support::Outcome tshark(const std::string& capture, const support::Argv& options) const {
        support::Argv argv{"tshark", "-r", capture};
        argv.insert(argv.end(), options.begin(), options.end());
        return run(argv);
    }

  private:
    support::TempPath temp_;
};

/// Returns whether tshark runs the dissector for this user. For root, Wireshark 4.4 and later
/// ignores scripts unless the system's init.lua allows them. Debian's 4.0 runs them.
inline bool runs_scripts() {
    static const bool runs =
        geteuid() != 0 ||
        Home("scripts")
                .tshark("captures/samples/01_cm_write_read/annotated.pcapng",
                        {"-X", std::string("lua_script:") + plugin, "-T", "fields", "-e", "rwl"})
                .exit_code == 0;
    return runs;
}

inline constexpr const char* no_scripts =
    "this tshark runs no Lua scripts for root: run the tests as an ordinary user";

}  // namespace wireshark_test

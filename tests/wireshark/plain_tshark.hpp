// tshark of somebody who has configured nothing: whatever this user has installed, it does not
// count.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace wireshark_test {

inline constexpr const char* plugin = "wireshark/plugins/rdma_wire_lab.lua";

// A home folder of the test's own.
class Home {
  public:
    explicit Home(const std::string& name) : temp_("home_" + name) {
        std::filesystem::create_directories(path());
    }

    std::filesystem::path path() const { return temp_.str(); }
    std::filesystem::path config() const { return path() / ".config/wireshark"; }

    /// With this home folder.
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

}  // namespace wireshark_test

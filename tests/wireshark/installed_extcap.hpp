// tshark with the extcap program that wireshark/install installs, and with no other.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <unistd.h>

#include "wireshark/plain_tshark.hpp"

namespace wireshark_test {

class InstalledExtcap {
  public:
    InstalledExtcap() {
        const auto outcome = home_.run({"wireshark/install", "install"});
        if (outcome.exit_code != 0)
            problem_ = outcome.all();
        else if (geteuid() == 0 && support::run({"unshare", "-m", "true"}).exit_code != 0)
            problem_ =
                "Wireshark ignores WIRESHARK_EXTCAP_DIR for root, and root may not mount here: run "
                "the tests as an ordinary user";
    }

    /// Why tshark() cannot be run.
    const std::optional<std::string>& problem() const { return problem_; }

    /// For root, Wireshark 4.0 uses the system's folder only: the command sees the installed one in
    /// its place.
    support::Argv tshark(const support::Argv& options) const {
        support::Argv argv{"tshark"};
        if (geteuid() == 0)
            argv = {
                "unshare",
                "-m",
                "bash",
                "-c",
                R"(for system in /usr/lib/*/wireshark/extcap; do mount --bind "$0" "$system"; done; exec tshark "$@")",
                folder()};
        argv.insert(argv.end(), options.begin(), options.end());
        return argv;
    }
    support::Argv environment() const {
        return {"WIRESHARK_EXTCAP_DIR=" + folder(),
                "XDG_CONFIG_HOME=" + (home_.path() / ".config").string()};
    }

  private:
    std::string folder() const { return (home_.path() / ".local/lib/wireshark/extcap").string(); }

    Home home_{"extcap"};
    std::optional<std::string> problem_;
};

}  // namespace wireshark_test

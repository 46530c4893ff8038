// A separate lab for one test, besides the shared one: other guests, other settings, its own state.
#pragma once

#include <memory>
#include <string>

#include "support/lab.hpp"

namespace support {

class OtherLab {
  public:
    /// `state`: its folder, "build/NAME". The shared lab must have been up once, because this lab
    /// uses the files that it downloaded for the guests.
    OtherLab(std::string state, Argv settings);
    /// Stops the lab.
    ~OtherLab();
    OtherLab(const OtherLab&) = delete;
    OtherLab& operator=(const OtherLab&) = delete;
    OtherLab(OtherLab&&) = delete;
    OtherLab& operator=(OtherLab&&) = delete;

    const Argv& environment() const { return environment_; }
    Outcome run(const Argv& argv, const Argv& more = {},
                std::chrono::milliseconds time = std::chrono::seconds(60)) const;
    Outcome exec(const std::string& host, const Argv& command) const;
    /// Like support::start().
    std::unique_ptr<Process> start(const std::string& host, const Argv& command) const;

    /// Returns the settings of the ssh backend with which it reaches these guests. `addresses`: the
    /// server's first.
    Argv as_ssh(const std::vector<std::string>& addresses) const;

    /// Returns the lines of ps for its remaining QEMU processes.
    std::string guests() const;

  private:
    std::string state_;
    Argv environment_;
};

}  // namespace support

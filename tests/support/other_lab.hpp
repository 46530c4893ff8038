// A lab of a test's own, beside the shared one: other guests, other settings, its own state.
#pragma once

#include <memory>
#include <string>

#include "support/lab.hpp"

namespace support {

class OtherLab {
  public:
    /// `state`: its folder, "build/NAME". The shared lab must have been up once: what is
    /// fetched for the guests is taken from there.
    OtherLab(std::string state, Argv settings);
    /// Brings it down.
    ~OtherLab();
    OtherLab(const OtherLab&) = delete;
    OtherLab& operator=(const OtherLab&) = delete;
    OtherLab(OtherLab&&) = delete;
    OtherLab& operator=(OtherLab&&) = delete;

    const Argv& environment() const { return environment_; }
    Outcome run(const Argv& argv, const Argv& more = {},
                std::chrono::milliseconds time = std::chrono::seconds(60)) const;
    Outcome exec(const std::string& host, const Argv& command) const;
    /// As support::start().
    std::unique_ptr<Process> start(const std::string& host, const Argv& command) const;

    /// How the vm backend reaches these guests, said in the ssh backend's variables. `addresses`:
    /// the server's first.
    Argv as_ssh(const std::vector<std::string>& addresses) const;

    /// The QEMU processes that are left of it, as ps lists them.
    std::string guests() const;

  private:
    std::string state_;
    Argv environment_;
};

}  // namespace support

// The kernel's trace of the driver's steps: an instance of tracefs with kprobe events of its own, which
// end with this object. Others that trace are not disturbed.
// Source: kernel documentation, trace/ftrace and trace/kprobetrace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/fd.hpp"
#include "xray/probes.hpp"

namespace xray {

class Trace {
  public:
    /// Mounts tracefs if it is not mounted. Removes what processes left that were killed. Throws util::Error.
    Trace();
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;
    Trace(Trace&&) = delete;
    Trace& operator=(Trace&&) = delete;

    /// Returns the function whose calls are traced from start() on; nullopt: the kernel has none of them.
    std::optional<std::string_view> add(const Probe& probe);
    void start();
    /// Ends the trace: what was traced can still be read.
    void stop();

    /// Returns the next bytes of the trace, without waiting; empty: none now.
    std::string_view read();

    /// The calls so far that the kernel did not trace: a probe that an interrupt finds at work on the same
    /// CPU keeps all probes from tracing what the interrupt does.
    std::uint64_t missed() const;

  private:
    void write(const std::string& file, std::string_view text, int flags = 0) const;

    std::string root_, group_, instance_;
    std::vector<std::string> added_;
    util::Fd pipe_;
    std::vector<char> buffer_;
};

}  // namespace xray

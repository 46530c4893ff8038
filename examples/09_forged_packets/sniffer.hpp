// Step 09, the attacker: every RoCE packet that passes the interface, which an attacker on the path
// can read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "capture/live_source.hpp"
#include "util/error.hpp"
#include "util/stop_signal.hpp"
#include "wire/packet.hpp"

namespace step09 {

/// A whole Ethernet frame, kept.
struct CapturedFrame {
    std::vector<std::byte> frame;

    /// Points into `frame`.
    wire::Packet packet() const { return wire::decode(frame, wire::LinkType::Ethernet); }
};

class Sniffer {
  public:
    /// Once this returns, packets are being kept. Throws util::Error, as capture::LiveSource does.
    explicit Sniffer(const std::string& interface)
        : source_({.interface = interface, .filter = {}}) {}

    using Test = std::function<bool(const wire::Packet&)>;

    /// The packets since the last call, up to and including the first that `is_last` is true for.
    /// Throws util::Error when none comes until the deadline, naming it as `what`, and where a stop
    /// was requested.
    std::vector<CapturedFrame> until(const Test& is_last, std::string_view what,
                                     util::StopSignal& stop, util::Deadline deadline) {
        std::vector<CapturedFrame> seen;
        while (true) {
            while (const auto frame = source_.next()) {
                seen.push_back({{frame->bytes.begin(), frame->bytes.end()}});
                if (is_last(seen.back().packet()))
                    return seen;
            }
            const util::Ready ready = util::wait_readable(source_.fd(), stop, deadline);
            if (ready == util::Ready::stop)
                throw util::Error(fmt::format("stopped by a signal while waiting for {}.", what));
            if (ready == util::Ready::timeout)
                throw util::Error(fmt::format(
                    "{} was not seen in time on the interface. Is the server still running?",
                    what));
        }
    }

  private:
    capture::LiveSource source_;
};

}  // namespace step09

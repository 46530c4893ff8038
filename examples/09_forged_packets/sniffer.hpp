// Lesson 09, the attacker: captures the RoCE packets on the interface, as an attacker on the path
// can.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "capture/live_source.hpp"
#include "util/error.hpp"
#include "util/stop_signal.hpp"
#include "wire/packet.hpp"

namespace lesson09 {

/// A copy of a complete Ethernet frame.
struct CapturedFrame {
    std::vector<std::byte> frame;

    /// Points into `frame`.
    wire::Packet packet() const { return wire::decode(frame, wire::LinkType::Ethernet); }
};

class Sniffer {
  public:
    /// Starts the capture before it returns. Throws util::Error, like capture::LiveSource.
    explicit Sniffer(const std::string& interface)
        : source_({.interface = interface, .filter = {}}) {}

    using Test = std::function<bool(const wire::Packet&)>;

    /// Returns the packets since the last call, up to and including the first one that `is_last`
    /// accepts. Throws util::Error with `what` if none arrives before the deadline or a stop was
    /// requested.
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

}  // namespace lesson09

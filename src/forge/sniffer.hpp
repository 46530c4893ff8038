// What an attacker on the path has: every RoCE packet that passes the interface.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/live_source.hpp"
#include "util/stop_signal.hpp"
#include "wire/packet.hpp"

namespace forge {

/// A whole Ethernet frame, kept.
struct Seen {
    std::vector<std::byte> frame;

    /// Points into `frame`.
    wire::Packet packet() const { return wire::decode(frame, wire::LinkType::Ethernet); }
};

class Sniffer {
  public:
    /// Once this returns, packets are being kept. Throws util::Error, as capture::LiveSource does.
    explicit Sniffer(const std::string& interface);

    using Test = std::function<bool(const wire::Packet&)>;

    /// The packets since the last call, up to and including the first that `is_last` is true for.
    /// Throws util::Error when none comes until the deadline, naming it as `what`, and where a stop
    /// was requested.
    std::vector<Seen> until(const Test& is_last, std::string_view what, util::StopSignal& stop,
                            util::Deadline deadline);

  private:
    capture::LiveSource source_;
};

}  // namespace forge

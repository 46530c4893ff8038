// Captures that have packets twice, from two interfaces each: each packet would look retransmitted.
// Examples are a capture merged from both ends of a link, and one of all interfaces (tcpdump -i any)
// of a host with a bridge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/frame.hpp"
#include "trace/flow/key.hpp"

namespace rocecap {

/// Remembers about 65,000 packets, the latest ones.
class InterfaceCopies {
  public:
    void see(const capture::Frame& frame, const wire::Packet& packet);

    /// Prints a warning if a tenth of the packets or more are copies. `advice`: its end, what to do
    /// about it.
    void warn(const std::string& advice) const;

  private:
    struct Seen {
        std::uint64_t digest = 0;
        std::uint32_t interface = 0;
    };

    std::vector<Seen> last_;  // indexed by the digest's low bits; empty before the first packet
    std::uint64_t packets_ = 0;
    std::uint64_t copies_ = 0;
    std::string here_, there_;  // the interfaces of the first copy
    std::uint32_t other_ = 0;
};

/// A capture of all interfaces. Such a capture also shows which packets the host sent. Of another
/// capture, it does nothing. Remembers about 65,000 packets, the latest ones.
class AnyCapture {
  public:
    /// Takes the packets in order. Returns false for one that an earlier frame has, from another
    /// interface: leave it out.
    bool take(const capture::Frame& frame, const wire::Packet& packet);

    /// The host, as its first packet shows. nullopt: none does, or it forwards the packets of others.
    std::optional<flow::Host> host() const { return forwards_ ? std::nullopt : host_; }
    /// A sentence about the packets left out; empty if there are none.
    std::string text() const;

  private:
    struct Seen {
        std::uint64_t digest = 0;
        std::uint32_t interface = 0;
        std::int64_t t_ns = 0;
        bool was_received = false;
    };

    std::optional<flow::Host> host_;
    bool forwards_ = false;
    std::vector<Seen> last_;  // indexed by the digest's low bits; empty before the first packet
    std::uint64_t packets_ = 0;
    std::uint64_t copies_ = 0;
    std::uint32_t first_ = 0, second_ = 0;  // the interfaces of the first copy
};

/// "1 ('eth0')".
std::string interface_text(const wire::CaptureNotes& notes);

}  // namespace rocecap

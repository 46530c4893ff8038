// Captures that have packets several times, from an interface each: every copy would look
// retransmitted. Examples are a capture merged from both ends of a link, and one of all interfaces
// (tcpdump -i any) of a host with a bridge.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capture/frame.hpp"
#include "trace/flow/key.hpp"

namespace rocecap {

/// Remembers about 65,000 packets, the latest ones.
class InterfaceCopies {
  public:
    /// Takes the packets in order. Returns false for one that an earlier frame has, from another
    /// interface: leave it out.
    bool take(const capture::Frame& frame, const wire::Packet& packet);

    /// The host that captured all its interfaces, as its first packet shows. nullopt: none does, or
    /// it forwards the packets of others.
    std::optional<flow::Host> host() const { return forwards_ ? std::nullopt : host_; }
    /// A sentence about the packets left out; empty if there are none.
    std::string text() const;
    /// Prints a warning if a tenth of the packets or more were taken, but may be copies. `advice`:
    /// its end, what to do about it.
    void warn(const std::string& advice) const;

  private:
    /// Of pcapng, and of the Linux cooked header. 0 if there is none.
    struct Interface {
        std::uint32_t id = 0, index = 0;

        bool operator==(const Interface& other) const {
            return id == other.id && index == other.index;
        }
    };
    struct Seen {
        std::uint64_t digest = 0;
        Interface first, last;  // of its copies
        std::int64_t t_ns = 0;
        bool was_received = false;
    };
    /// Copies of one kind, and the interfaces of the first of them.
    struct Copies {
        std::uint64_t count = 0;
        Interface first, second;

        void add(const Interface& here, const Interface& there);
    };

    std::string name(const Interface& interface) const;

    std::optional<flow::Host> host_;
    bool forwards_ = false;
    std::vector<Seen> last_;  // indexed by the digest's low bits; empty before the first packet
    std::uint64_t packets_ = 0;
    Copies left_out_, doubtful_;
    std::map<std::uint32_t, std::string> names_;  // of the interfaces of pcapng
};

/// "1 ('eth0')".
std::string interface_text(const wire::CaptureNotes& notes);

}  // namespace rocecap

// Decides which packets with UDP port 4791 are RoCE. Other programs may use the port: a DNS
// resolver, for example, whose query was sent from it.
//
// The decision is made for each flow (addresses and UDP source port), while the packets are read.
// A flow with one right ICRC is RoCE from then on. Without one, a flow is RoCE while most of its
// packets look like RoCE: hardware may leave the ICRC to be computed after the capture, and a snap
// length cuts it off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wire/icrc_hint.hpp"
#include "wire/packet.hpp"

namespace wire {

/// Its memory is fixed. If several flows need the same place, the last one has it.
class RoceFlows {
  public:
    /// `trust_port`: every packet to port 4791 is RoCE.
    explicit RoceFlows(bool trust_port = false);

    /// As wire::decode(), but a packet to port 4791 of a flow that is not RoCE is one to another
    /// UDP port; a packet from port 4791 is RoCE if the flow of its requests is. A bad ICRC gets
    /// its hint. Allocates only for a flow that is not RoCE. The result does not depend on `icrc`,
    /// except for the ICRC itself.
    Packet decode(util::Bytes frame, LinkType link, std::size_t original_length,
                  IcrcCheck icrc = IcrcCheck::Compute);
    /// The same for a packet that wire::decode() returned for these arguments: that part needs no
    /// other packets, so it can be done on another CPU.
    void settle(Packet& packet, util::Bytes frame, LinkType link, std::size_t original_length,
                IcrcCheck icrc);

    /// Adds an address that a hint may find: that of a host of which the capture may have only the
    /// translated one.
    void know(const IpAddress& address);

    /// Number of packets to port 4791 that are not RoCE.
    std::uint64_t left_out() const { return left_out_; }
    /// One sentence about them, with their flows; empty if there are none.
    std::string left_out_text() const;

  private:
    struct Key {
        /// Source and destination; in the machine's byte order.
        std::array<std::uint64_t, 4> addresses{};
        /// The UDP port that is not 4791, and what the key is for.
        std::uint32_t port = 0;

        static Key of(const Packet& packet, std::uint32_t port);
        Key reversed() const;
        std::size_t hash() const;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct Flow {
        Key key;
        std::int16_t votes = 0;  ///< packets that look like RoCE, less the others
        std::uint8_t checked = 0;
        bool is_proven = false;  ///< had a right ICRC

        bool is_roce() const { return is_proven || votes > 0; }
    };
    struct LeftOut {
        Key key;
        std::string text;
        std::uint64_t packets = 0;
    };
    struct Input {
        util::Bytes frame;
        LinkType link{};
        std::size_t original_length = 0;

        Packet decode(IcrcCheck icrc, RocePorts ports) const {
            return wire::decode(frame, link, original_length, icrc, ports);
        }
    };

    void decide(Packet& packet, IcrcCheck icrc);
    void decide_reply(Packet& packet, IcrcCheck icrc);
    bool judge(Flow& flow, const Packet& packet, RocePorts ports);
    void prove(Flow& flow);
    IcrcStatus status_of(const Packet& packet, RocePorts ports) const;
    Flow& flow_of(const Key& key);
    const Flow* find(const Key& key) const;
    void leave_out(const Packet& packet, const Key& key);
    void explain_icrc(Packet& packet);
    void note_addresses(const Packet& packet);

    std::vector<Flow> flows_;  // by hash
    bool trust_port_;
    Input last_;
    IcrcHint hint_;
    std::array<IpAddress, 32> known_{};  // for hints
    std::size_t known_count_ = 0;
    std::vector<LeftOut> named_;  // the first flows that were left out
    std::uint64_t left_out_ = 0;
};

}  // namespace wire

// One captured frame, decoded as far as it goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/cursor.hpp"
#include "wire/aeth.hpp"
#include "wire/bth.hpp"
#include "wire/cm.hpp"
#include "wire/ethernet.hpp"
#include "wire/extension_headers.hpp"
#include "wire/grh.hpp"
#include "wire/icrc.hpp"
#include "wire/ip.hpp"
#include "wire/mac_control.hpp"
#include "wire/mad.hpp"
#include "wire/opcode.hpp"
#include "wire/outer.hpp"
#include "wire/udp.hpp"

namespace wire {

/// Why a frame is none of ours. That is normal in a capture and says nothing against the frame.
enum class NotRoce : std::uint8_t {
    Arp,
    MacControl,  ///< PAUSE, PFC
    OtherEtherType,
    Tcp,
    OtherIpProtocol,
    OtherUdpPort,
    LaterFragment,  ///< a fragment without the UDP header: what it belongs to cannot be seen
    Esp,            ///< encrypted
    Encapsulation,  ///< that is not decoded
    TooDeep,        ///< more than Outer::capacity encapsulations
    Undecodable,    ///< in a tunnel that is known by its UDP port alone: neither Ethernet nor IP
};

/// "ARP", "TCP", "another UDP port", ...
std::string_view text(NotRoce reason);

/// The packet is fine as far as one can see, but the capture has too little of it.
struct Truncated {
    std::string_view what;  ///< "RETH", "payload", "ICRC", ...; static text
    std::size_t needs = 0;  ///< bytes
    std::size_t left = 0;   ///< bytes captured of those
    /// The frame was shorter than its IP length already when it was captured: a switch that mirrors
    /// traffic cuts it. Otherwise the snap length of the capture did.
    bool is_sliced = false;

    /// Who cut it: "truncated by snap length" or "truncated before the capture".
    std::string_view reason() const;
    /// "truncated by snap length: RETH needs 16 bytes, 4 left"
    std::string text() const;
};

enum class Fault : std::uint8_t {
    TooShort,          ///< the packet ends before `what` does
    IpVersion,         ///< `value` is neither 4 nor 6, or does not fit the EtherType
    IpHeaderLength,    ///< IPv4 header length `value` below 20, or past the packet's end
    LengthTooSmall,    ///< `what`'s length field says `value`, below the `limit` of its own header
    UdpLength,         ///< UDP length `value`, where IP leaves `limit`
    FirstFragment,     ///< RoCE in an IP fragment: it may not be fragmented, and is not reassembled
    GrhNextHeader,     ///< the GRH's next header is `value`, not 0x1b
    TransportVersion,  ///< TVer `value`, not 0
    ReservedOpcode,    ///< opcode `value`
    PadCount,          ///< pad count `value`, with `limit` bytes of payload and padding
    UnexpectedPayload,  ///< `value` bytes behind an opcode that carries none
};

struct Malformed {
    Fault fault{};
    std::string_view what;  ///< the header it is about, static text
    std::size_t value = 0;  ///< what was found; see Fault
    std::size_t limit = 0;  ///< what it is measured against; see Fault

    /// One sentence: "RETH needs 16 bytes, 4 left", "UDP length 52, but IP leaves 60 bytes".
    std::string text() const;
};

/// How far decoding got is visible from the headers that are present; they stand here in the order
/// of the wire. Spans and pointers: `opcode` points into a static table, the others into the frame.
struct Packet {
    std::optional<Ethernet> ethernet;
    Vlans vlans;
    std::optional<LinuxCooked> sll;
    /// The encapsulations that the packet is in: the headers here are those of the packet inside
    /// them. `ethernet`, `vlans` and `sll` are the last ones on the way to it.
    std::optional<Outer> outer;
    /// Where in the frame the IP header or GRH begins, and where an IP header ends, extension
    /// headers included; 0 without one.
    std::uint32_t network_at = 0;
    std::uint32_t network_end = 0;
    std::optional<Ipv4> ipv4;
    std::optional<Ipv6> ipv6;
    std::optional<Grh> grh;
    std::optional<Udp> udp;
    std::optional<Bth> bth;
    /// nullptr without a BTH and for an opcode without a row: reserved, the manufacturer's own, or
    /// one of DC's (`dceth` is then there) that is not known.
    const OpcodeInfo* opcode = nullptr;
    std::optional<Rdeth> rdeth;
    std::optional<Dceth> dceth;
    std::optional<Deth> deth;
    std::optional<Xrceth> xrceth;
    std::optional<Feth> feth;
    std::optional<Reth> reth;
    std::optional<AtomicEth> atomic_eth;
    std::optional<Aeth> aeth;
    std::optional<AtomicAckEth> atomic_ack_eth;
    std::optional<ImmDt> immdt;
    std::optional<Ieth> ieth;
    /// What was captured of the payload, without padding and ICRC.
    util::Bytes payload;
    /// Bytes of payload on the wire, from the length fields; more than payload.size() where the
    /// capture was cut. Valid when `icrc` is present.
    std::size_t payload_length = 0;
    std::optional<Mad> mad;
    std::optional<Cm> cm;
    /// Present when all headers in front of it are.
    std::optional<Icrc> icrc;

    /// Of a frame that is NotRoce::MacControl.
    std::optional<MacControl> mac_control;
    std::optional<NotRoce> not_roce;
    std::optional<Truncated> truncated;
    std::optional<Malformed> malformed;

    bool is_roce() const { return bth.has_value(); }
    /// Nothing to complain of: not malformed, and no header missing.
    bool is_complete() const { return bth && !truncated && !malformed; }
};

/// Whether a frame that is not RoCE may have RoCE inside which is not decoded: encrypted, in a later
/// fragment, or in an encapsulation that is not known.
bool may_hide_roce(const Packet& packet);

/// `frame`: the captured bytes, which must outlive the result. `original_length`: bytes the frame
/// had on the wire; more than frame.size() when the snap length cut it. An IP length that goes beyond
/// those is taken for the packet's: it was sliced before it was captured. Never throws or allocates.
Packet decode(util::Bytes frame, LinkType link, std::size_t original_length,
              IcrcCheck icrc = IcrcCheck::Compute);

/// A frame captured as a whole.
inline Packet decode(util::Bytes frame, LinkType link) {
    return decode(frame, link, frame.size());
}

}  // namespace wire

// One captured frame, decoded as far as possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/cursor.hpp"
#include "wire/bth.hpp"
#include "wire/cm.hpp"
#include "wire/erf.hpp"
#include "wire/ethernet.hpp"
#include "wire/extension_headers.hpp"
#include "wire/icrc.hpp"
#include "wire/infiniband.hpp"
#include "wire/ip.hpp"
#include "wire/mac_control.hpp"
#include "wire/mad.hpp"
#include "wire/opcode.hpp"
#include "wire/outer.hpp"
#include "wire/trail.hpp"

namespace wire {

/// Why a frame is not RoCE. This is normal in a capture and not an error.
enum class NotRoce : std::uint8_t {
    Arp,
    MacControl,  ///< PAUSE, PFC
    OtherEtherType,
    Tcp,
    OtherIpProtocol,
    OtherUdpPort,
    LaterFragment,   ///< fragment without the UDP header: its protocol is unknown
    Esp,             ///< encrypted
    Encapsulation,   ///< an encapsulation that is not decoded
    TooDeep,         ///< more than Outer::capacity encapsulations
    Undecodable,     ///< neither Ethernet nor IP, in a tunnel known only by its UDP port
    RawInfiniband,   ///< a packet without InfiniBand's transport
    InfinibandLink,  ///< a link packet, such as flow control
    OtherErf,        ///< an ERF record of another type
};

/// "ARP", "TCP", "another UDP port", ...
std::string_view text(NotRoce reason);

/// The packet seems valid, but the capture has too little of it.
struct Truncated {
    std::string_view what;  ///< "RETH", "payload", "ICRC", ...; static text
    std::size_t needs = 0;  ///< bytes
    std::size_t left = 0;   ///< bytes captured
    /// The frame was already shorter than its IP length when it was captured: a mirroring switch
    /// cut it. Otherwise the snap length of the capture did.
    bool is_sliced = false;

    /// "truncated by snap length" or "truncated before the capture".
    std::string_view reason() const;
    /// "truncated by snap length: RETH needs 16 bytes, 4 left"
    std::string text() const;
};

enum class Fault : std::uint8_t {
    TooShort,           ///< the packet ends before `what` does
    IpVersion,          ///< `value` is neither 4 nor 6, or does not fit the EtherType
    IpHeaderLength,     ///< IPv4 header length `value` is below 20 or past the packet's end
    LengthTooSmall,     ///< `what`'s length field is `value`, below the `limit` of its own header
    UdpLength,          ///< UDP length `value`, but IP leaves `limit`
    LinkVersion,        ///< link version `value`, not 0
    GrhLength,          ///< GRH payload length `value`, but the LRH leaves `limit`
    FirstFragment,      ///< RoCE in an IP fragment: not allowed, and not reassembled
    GrhNextHeader,      ///< the GRH's next header is `value`, not 0x1b
    TransportVersion,   ///< TVer `value`, not 0
    ReservedOpcode,     ///< opcode `value`
    PadCount,           ///< pad count `value`, with `limit` bytes of payload and padding
    UnexpectedPayload,  ///< `value` bytes after an opcode without payload
};

struct Malformed {
    Fault fault{};
    std::string_view what;  ///< the affected header, static text
    std::size_t value = 0;  ///< the value found; see Fault
    std::size_t limit = 0;  ///< the limit it violates; see Fault

    /// One sentence: "RETH needs 16 bytes, 4 left", "UDP length 52, but IP leaves 60 bytes".
    std::string text() const;
};

/// The headers present show how far decoding got; members are in wire order. Spans and pointers:
/// `opcode` points into a static table, the others into the frame.
struct Packet {
    /// The positions in the frame of what was decoded.
    Trail trail;
    std::optional<Ethernet> ethernet;
    Vlans vlans;
    std::optional<LinuxCooked> sll;
    std::optional<Erf> erf;
    /// Only in native InfiniBand packets, as rwh, smp and vcrc.
    std::optional<Lrh> lrh;
    std::optional<Rwh> rwh;
    /// The encapsulations around the packet; the headers here are those of the innermost packet.
    /// `ethernet`, `vlans` and `sll` are the last ones before it.
    std::optional<Outer> outer;
    std::optional<Ipv4> ipv4;
    std::optional<Ipv6> ipv6;
    std::optional<Grh> grh;
    std::optional<Udp> udp;
    std::optional<Bth> bth;
    /// nullptr without a BTH and for an opcode without a row: reserved, manufacturer-specific, or
    /// an unknown DC opcode (`dceth` is then present).
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
    /// Captured part of the payload, without padding and ICRC.
    util::Bytes payload;
    /// Bytes of payload on the wire, from the length fields; more than payload.size() if the
    /// capture was cut. 0 if it is unknown, or if there is none.
    std::size_t payload_length = 0;
    std::optional<Mad> mad;
    std::optional<Cm> cm;
    std::optional<Smp> smp;
    /// Present if all headers before it are.
    std::optional<Icrc> icrc;
    std::optional<Vcrc> vcrc;

    /// Set for NotRoce::MacControl.
    std::optional<MacControl> mac_control;
    std::optional<NotRoce> not_roce;
    std::optional<Truncated> truncated;
    std::optional<Malformed> malformed;

    bool is_roce() const { return bth.has_value(); }
    /// Not malformed, and no header missing.
    bool is_complete() const { return bth && !truncated && !malformed; }
};

/// What a capture records of a packet in addition to its bytes. Views are valid as long as these.
struct CaptureNotes {
    /// Number of its interface in the file's section, from 0; nullopt for pcap, which has none.
    std::optional<std::uint32_t> interface_id;
    std::string_view interface_name{};  ///< "eth0"; empty if the file does not name it
    std::string_view comment{};         ///< may be invalid UTF-8; several are joined by commas
    bool has_other_interfaces = false;  ///< whether this section has described others so far
};

/// Returns whether a frame that is not RoCE may contain RoCE that is not decoded: encrypted, in a
/// later fragment, or in an unknown encapsulation.
bool may_hide_roce(const Packet& packet);

/// Which UDP ports make a packet RoCEv2.
enum class RocePorts : std::uint8_t {
    Destination,  ///< to 4791, as in annex A17
    Either,       ///< also from 4791: some devices swap the ports of a request in their responses
    None,
};

/// `frame`: the captured bytes, which must outlive the result. `original_length`: bytes of the
/// frame on the wire; more than frame.size() if the snap length cut it. If the IP length exceeds
/// that, it counts as the packet's length: the packet was sliced before the capture. Never throws
/// or allocates.
Packet decode(util::Bytes frame, LinkType link, std::size_t original_length,
              IcrcCheck icrc = IcrcCheck::Compute, RocePorts ports = RocePorts::Destination);

/// Decodes a completely captured frame.
inline Packet decode(util::Bytes frame, LinkType link) {
    return decode(frame, link, frame.size());
}

}  // namespace wire

// The headers of encapsulations, inside the decoder only. Each function reads one and says how what
// it carries begins; the decoder goes on from there.
#pragma once

#include <cstdint>

#include "wire/frame_reader.hpp"
#include "wire/packet.hpp"

namespace wire {

/// How a packet inside another one begins.
struct Inner {
    enum class As : std::uint8_t {
        Nothing,    ///< its beginning is not there: the packet says why
        NotRoce,    ///< `reason`
        Ethernet,   ///< an Ethernet header
        EtherType,  ///< what the EtherType `type` stands for
        Ip,         ///< an IP header, whose first bits have the version
    };

    As as = As::Nothing;
    std::uint16_t type = 0;
    NotRoce reason{};
};

/// Where a tunnel's header stands.
struct OuterPlace {
    /// From the frame's first byte on.
    util::Bytes frame;
    /// From the IP header in front on; whether there is one says the packet.
    util::Bytes network;
};

Inner decode_mpls(FrameReader& reader, const OuterPlace& place, Packet& packet);
Inner decode_pppoe(FrameReader& reader, const OuterPlace& place, Packet& packet);

/// Whether packets of this IP protocol may carry another packet.
constexpr bool is_tunnel_protocol(std::uint8_t protocol) {
    return protocol == ip_protocol::ipv4 || protocol == ip_protocol::ipv6 ||
           protocol == ip_protocol::gre || protocol == ip_protocol::mpls;
}
Inner decode_ip_tunnel(std::uint8_t protocol, FrameReader& reader, const OuterPlace& place,
                       Packet& packet);

/// By the destination port, which other programs may use as well: a header that is not valid is
/// NotRoce::OtherUdpPort.
constexpr bool is_tunnel_port(std::uint16_t port) {
    return port == vxlan_port || port == geneve_port || port == gtp_port;
}
Inner decode_udp_tunnel(std::uint16_t port, FrameReader& reader, const OuterPlace& place,
                        Packet& packet);

}  // namespace wire

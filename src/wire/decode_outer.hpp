// Headers of encapsulations, for the decoder only. Each function reads one header and returns how
// its payload begins; the decoder continues from there.
#pragma once

#include <cstdint>

#include "wire/frame_reader.hpp"
#include "wire/packet.hpp"

namespace wire {

/// How an encapsulated packet begins.
struct Inner {
    enum class As : std::uint8_t {
        Nothing,    ///< its beginning is missing: the packet has the reason
        NotRoce,    ///< `reason`
        Ethernet,   ///< an Ethernet header
        EtherType,  ///< the header that the EtherType `type` names
        Ip,         ///< an IP header; its first bits are the version
    };

    As as = As::Nothing;
    std::uint16_t type = 0;
    NotRoce reason{};
};

Inner decode_mpls(FrameReader& reader, Packet& packet);
Inner decode_pppoe(FrameReader& reader, Packet& packet);

/// Returns whether packets of this IP protocol may carry another packet.
constexpr bool is_tunnel_protocol(std::uint8_t protocol) {
    return protocol == ip_protocol::ipv4 || protocol == ip_protocol::ipv6 ||
           protocol == ip_protocol::gre || protocol == ip_protocol::mpls;
}
Inner decode_ip_tunnel(std::uint8_t protocol, FrameReader& reader, Packet& packet);

/// Checks the destination port, which other programs may use as well: an invalid header gives
/// NotRoce::OtherUdpPort.
constexpr bool is_tunnel_port(std::uint16_t port) {
    return port == vxlan_port || port == geneve_port || port == gtp_port;
}
Inner decode_udp_tunnel(std::uint16_t port, FrameReader& reader, Packet& packet);

}  // namespace wire

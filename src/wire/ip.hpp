// The headers of the network layer (IPv4, IPv6, GRH) and of UDP, and the Internet checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "util/cursor.hpp"
#include "wire/address.hpp"
#include "wire/layout.hpp"

namespace wire {

namespace ip_protocol {
inline constexpr std::uint8_t hop_by_hop = 0;
inline constexpr std::uint8_t icmp = 1;
inline constexpr std::uint8_t ipv4 = 4;  ///< IP in IP
inline constexpr std::uint8_t tcp = 6;
inline constexpr std::uint8_t udp = 17;
/// The next header of a GRH in RoCEv1: IBA transport (IBTA volume 1, 8.3).
inline constexpr std::uint8_t iba = 0x1b;
inline constexpr std::uint8_t ipv6 = 41;
inline constexpr std::uint8_t routing = 43;
inline constexpr std::uint8_t fragment = 44;
inline constexpr std::uint8_t gre = 47;
inline constexpr std::uint8_t encapsulation = 50;   ///< ESP
inline constexpr std::uint8_t authentication = 51;  ///< AH
inline constexpr std::uint8_t icmp_v6 = 58;
inline constexpr std::uint8_t destination_options = 60;
inline constexpr std::uint8_t mpls = 137;  ///< RFC 4023
}  // namespace ip_protocol

/// RFC 791.
struct Ipv4 {
    /// Without options.
    static constexpr std::size_t size = 20;

    std::uint8_t version = 4;
    std::uint8_t header_length = size;  ///< bytes, options included: 20..60 if valid
    std::uint8_t dsfield = 0;           ///< DSCP in bits 7:2, ECN in bits 1:0
    std::uint16_t total_length = 0;     ///< bytes, this header included
    std::uint16_t id = 0;
    bool df = false;
    bool mf = false;
    std::uint16_t fragment_offset = 0;  ///< bytes
    std::uint8_t ttl = 64;
    std::uint8_t protocol = ip_protocol::udp;
    std::uint16_t checksum = 0;  ///< as on the wire; not verified, since offload leaves it unset
    Ipv4Address src;
    Ipv4Address dst;

    std::uint8_t dscp() const { return static_cast<std::uint8_t>(dsfield >> 2); }
    std::uint8_t ecn() const { return dsfield & 3U; }
    bool is_fragment() const { return mf || fragment_offset != 0; }

    using Fields =
        Layout<Header::Ipv4, At<&Ipv4::version, 0, 4>, At<&Ipv4::header_length, 4, 4, 4>,
               At<&Ipv4::dsfield, 8, 8>, At<&Ipv4::dscp, 8, 6>, At<&Ipv4::ecn, 14, 2>,
               At<&Ipv4::total_length, 16, 16>, At<&Ipv4::id, 32, 16>, At<&Ipv4::df, 49, 1>,
               At<&Ipv4::mf, 50, 1>, At<&Ipv4::fragment_offset, 51, 13, 8>, At<&Ipv4::ttl, 64, 8>,
               At<&Ipv4::protocol, 72, 8>, At<&Ipv4::checksum, 80, 16>, At<&Ipv4::src, 96, 32>,
               At<&Ipv4::dst, 128, 32>>;
    friend bool operator==(const Ipv4&, const Ipv4&) = default;
};

/// RFC 8200.
struct Ipv6 {
    static constexpr std::size_t size = 40;

    std::uint8_t version = 6;
    std::uint8_t tclass = 0;           ///< DSCP in bits 7:2, ECN in bits 1:0
    std::uint32_t flow_label = 0;      ///< 20 bits
    std::uint16_t payload_length = 0;  ///< bytes after this header, extension headers included
    std::uint8_t next_header = ip_protocol::udp;
    std::uint8_t hop_limit = 64;
    Ipv6Address src;
    Ipv6Address dst;

    std::uint8_t dscp() const { return static_cast<std::uint8_t>(tclass >> 2); }
    std::uint8_t ecn() const { return tclass & 3U; }

    using Fields =
        Layout<Header::Ipv6, At<&Ipv6::version, 0, 4>, At<&Ipv6::tclass, 4, 8>,
               At<&Ipv6::dscp, 4, 6>, At<&Ipv6::ecn, 10, 2>, At<&Ipv6::flow_label, 12, 20>,
               At<&Ipv6::payload_length, 32, 16>, At<&Ipv6::next_header, 48, 8>,
               At<&Ipv6::hop_limit, 56, 8>, At<&Ipv6::src, 64, 128>, At<&Ipv6::dst, 192, 128>>;
    friend bool operator==(const Ipv6&, const Ipv6&) = default;
};

/// Returns the sum of the 16-bit big-endian words of `bytes`; a last odd byte is the upper half of
/// a word. Sums may be added before internet_checksum folds them.
std::uint64_t ones_sum(util::Bytes bytes);

/// The source and destination address of an IPv4 or IPv6 header; empty without a header.
util::Bytes ip_addresses(util::Bytes ip);

/// The Internet checksum (RFC 1071) of the summed bytes, for IPv4 headers and UDP.
std::uint16_t internet_checksum(std::uint64_t sum);

/// Global Route Header, the network header of RoCEv1 (IBTA volume 1, 8.3; annex A16). Names as in
/// Wireshark's infiniband.grh.*.
struct Grh {
    static constexpr std::size_t size = 40;

    std::uint8_t ipver = 6;
    std::uint8_t tclass = 0;
    std::uint32_t flowlabel = 0;  ///< 20 bits
    std::uint16_t paylen = 0;     ///< bytes from the BTH to the ICRC, inclusive
    std::uint8_t nxthdr = ip_protocol::iba;
    std::uint8_t hoplmt = 64;
    Gid sgid;
    Gid dgid;

    using Fields =
        Layout<Header::Grh, At<&Grh::ipver, 0, 4>, At<&Grh::tclass, 4, 8>,
               At<&Grh::flowlabel, 12, 20>, At<&Grh::paylen, 32, 16>, At<&Grh::nxthdr, 48, 8>,
               At<&Grh::hoplmt, 56, 8>, At<&Grh::sgid, 64, 128>, At<&Grh::dgid, 192, 128>>;
    friend bool operator==(const Grh&, const Grh&) = default;
};

/// RoCEv2's destination port, for control and data (IBTA volume 1, annex A17). The source port is
/// entropy for load balancing and does not identify a connection.
inline constexpr std::uint16_t roce_v2_port = 4791;

/// Destination ports of tunnels.
inline constexpr std::uint16_t gtp_port = 2152;
inline constexpr std::uint16_t vxlan_port = 4789;
inline constexpr std::uint16_t geneve_port = 6081;

/// Name of a destination port whose packets may carry an Ethernet frame or IP packet that is not
/// decoded: "ESP in UDP", ...; empty for others.
std::string_view undecoded_tunnel(std::uint16_t port);

/// RFC 768.
struct Udp {
    static constexpr std::size_t size = 8;

    std::uint16_t src_port = 0;
    std::uint16_t dst_port = roce_v2_port;
    std::uint16_t length = 0;    ///< bytes, this header included
    std::uint16_t checksum = 0;  ///< as on the wire; 0 means none; not verified, as in Ipv4

    using Fields = Layout<Header::Udp, At<&Udp::src_port, 0, 16>, At<&Udp::dst_port, 16, 16>,
                          At<&Udp::length, 32, 16>, At<&Udp::checksum, 48, 16>>;
    friend bool operator==(const Udp&, const Udp&) = default;
};

}  // namespace wire

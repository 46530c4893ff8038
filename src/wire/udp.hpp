// UDP header (RFC 768).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "util/cursor.hpp"

namespace wire {

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

struct Udp {
    static constexpr std::size_t size = 8;

    std::uint16_t src_port = 0;
    std::uint16_t dst_port = roce_v2_port;
    std::uint16_t length = 0;    ///< bytes, this header included
    std::uint16_t checksum = 0;  ///< as on the wire; 0 means none; not verified, as in Ipv4

    static Udp parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const Udp&, const Udp&) = default;
};

}  // namespace wire

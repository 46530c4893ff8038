// IPv6 header (RFC 8200).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/cursor.hpp"
#include "wire/address.hpp"
#include "wire/ipv4.hpp"

namespace wire {

struct Ipv6 {
    static constexpr std::size_t size = 40;

    std::uint8_t version = 6;
    std::uint8_t tclass = 0;           ///< DSCP in bits 7:2, ECN in bits 1:0
    std::uint32_t flow_label = 0;      ///< 20 bits
    std::uint16_t payload_length = 0;  ///< bytes behind this header, extension headers included
    std::uint8_t next_header = ip_protocol::udp;
    std::uint8_t hop_limit = 64;
    Ipv6Address src;
    Ipv6Address dst;

    std::uint8_t dscp() const { return static_cast<std::uint8_t>(tclass >> 2); }
    std::uint8_t ecn() const { return tclass & 3U; }

    static Ipv6 parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const Ipv6&, const Ipv6&) = default;
};

}  // namespace wire

// Lesson 09, both sides: restricts forged packets to the lab's own addresses.
//
// These are documentation prefixes, which are not routed on the Internet: 192.0.2.0/24 (TEST-NET-1,
// RFC 5737) and 2001:db8::/64 (of 2001:db8::/32, RFC 3849).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "util/address.hpp"
#include "util/error.hpp"
#include "wire/packet.hpp"

namespace lesson09 {

inline bool is_in_lab(const wire::Ipv4Address& address) {
    constexpr std::array<std::uint8_t, 3> lab{192, 0, 2};
    return std::equal(lab.begin(), lab.end(), address.bytes.begin());
}

/// Returns true for the lab's addresses, including IPv4-mapped ones.
inline bool is_in_lab(const wire::Ipv6Address& address) {
    constexpr std::array<std::uint8_t, 8> lab{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0};
    constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (std::equal(mapped.begin(), mapped.end(), address.bytes.begin())) {
        wire::Ipv4Address inner;
        std::copy_n(address.bytes.begin() + mapped.size(), inner.bytes.size(), inner.bytes.begin());
        return is_in_lab(inner);
    }
    return std::equal(lab.begin(), lab.end(), address.bytes.begin());
}

inline bool is_in_lab(const util::Address& address) {
    wire::Ipv6Address ipv6;
    std::ranges::transform(address.ipv6_bytes(), ipv6.bytes.begin(),
                           [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    return is_in_lab(ipv6);
}

[[noreturn]] inline void refuse(const std::string& what) {
    throw util::Error(fmt::format(
        "{}: forged packets stay inside the lab, 192.0.2.0/24 and 2001:db8::/64. Run this lesson "
        "with lab/lab capture.",
        what));
}

/// Throws util::Error with the address if it is not one of the lab's.
inline void require_lab(const util::Address& address) {
    if (!is_in_lab(address))
        refuse(fmt::format("{} is not one of the lab's addresses", address.host()));
}

/// Returns true if the packet is encrypted with IPsec ESP (lesson 18).
inline bool is_esp(const wire::Packet& packet) {
    constexpr std::uint8_t esp = wire::ip_protocol::encapsulation;
    return packet.ipv4 ? packet.ipv4->protocol == esp
                       : packet.ipv6 && packet.ipv6->next_header == esp;
}

/// Throws util::Error unless `packet` is an untagged RoCEv2 or ESP packet between two of the lab's
/// addresses.
inline void require_lab(const wire::Packet& packet) {
    const bool is_roce_v2 = packet.is_roce() && packet.udp;
    if ((!is_roce_v2 && !is_esp(packet)) || !packet.vlans.empty())
        refuse("this frame is not an untagged RoCEv2 or ESP packet");
    const bool stays =
        packet.ipv4 ? is_in_lab(packet.ipv4->src) && is_in_lab(packet.ipv4->dst)
                    : packet.ipv6 && is_in_lab(packet.ipv6->src) && is_in_lab(packet.ipv6->dst);
    if (!stays)
        refuse(fmt::format("a packet from {} to {} is not between the lab's addresses",
                           packet.ipv4 ? text(packet.ipv4->src) : text(packet.ipv6->src),
                           packet.ipv4 ? text(packet.ipv4->dst) : text(packet.ipv6->dst)));
}

}  // namespace lesson09

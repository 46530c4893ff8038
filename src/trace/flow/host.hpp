// The address of a packet's sender or receiver, whatever the network header.
#pragma once

#include <cstdint>
#include <string>

#include "wire/packet.hpp"

namespace flow {

/// Grh: RoCEv1. Its GIDs may look like the addresses of RoCEv2, but these are other packets.
enum class Network : std::uint8_t { Ipv4, Ipv6, Grh };

/// 16 bytes as two numbers in host byte order; an IPv4 address as ::ffff:a.b.c.d, which is also how
/// a RoCEv2 GID writes it.
struct Host {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    static Host of(const wire::Ipv4Address& address);
    static Host of(const wire::Ipv6Address& address);
    friend bool operator==(const Host&, const Host&) = default;
};

/// "192.0.2.1", "2001:db8::1", of a GRH always as an IPv6 address.
std::string text(const Host& host, Network network);

}  // namespace flow

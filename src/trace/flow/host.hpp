// Address of a packet's sender or receiver, for any network header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/packet.hpp"

namespace flow {

/// Grh: RoCEv1, and InfiniBand with a GRH. Its GIDs may look like RoCEv2 addresses, but the packets
/// differ. Lid: InfiniBand without a GRH.
enum class Network : std::uint8_t { Ipv4, Ipv6, Grh, Lid };

/// 16 bytes as two numbers in host byte order; an IPv4 address as ::ffff:a.b.c.d, which is also how
/// a RoCEv2 GID writes it. A LID is ffff:ffff::LID, which is no valid address.
struct Host {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    static Host of(const wire::Ipv4Address& address);
    static Host of(const wire::Ipv6Address& address);
    static std::optional<Host> of(const wire::IpAddress& address);
    static Host of_lid(std::uint16_t lid);
    bool is_lid() const;
    bool is_ipv4() const { return high == 0 && low >> 32U == 0xffffU; }
    friend bool operator==(const Host&, const Host&) = default;
    friend bool operator<(const Host& a, const Host& b) {
        return a.high != b.high ? a.high < b.high : a.low < b.low;
    }
};

/// The host of a RoCE GID: IPv6, or IPv4 as ::ffff:a.b.c.d. nullopt if the text is not a valid GID.
std::optional<Host> host_of_gid(std::string_view gid);

/// "192.0.2.1", "2001:db8::1", "LID 5"; for a GRH always an IPv6 address.
std::string text(const Host& host, Network network);
/// The same without a network: a mapped address is an IPv4 address.
std::string text(const Host& host);

}  // namespace flow

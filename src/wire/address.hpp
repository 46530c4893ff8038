// MAC, IPv4 and IPv6 addresses and GIDs in wire order, and their usual text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "util/cursor.hpp"

namespace wire {

/// N bytes in wire order. Tag makes addresses of different kinds distinct types.
template <std::size_t N, typename Tag>
struct AddressBytes {
    static constexpr std::size_t size = N;

    std::array<std::uint8_t, N> bytes{};

    template <std::size_t Offset, std::size_t M>
    static constexpr AddressBytes at(util::FixedBytes<M> header) {
        static_assert(Offset + N <= M, "the address extends past the end of the header");
        AddressBytes address;
        for (std::size_t i = 0; i < N; ++i)
            address.bytes[i] = std::to_integer<std::uint8_t>(header[Offset + i]);
        return address;
    }
    template <std::size_t Offset, std::size_t M>
    constexpr void put(std::span<std::byte, M> header) const {
        static_assert(Offset + N <= M, "the address extends past the end of the header");
        std::ranges::transform(bytes, header.template subspan<Offset, N>().begin(),
                               [](std::uint8_t byte) { return std::byte{byte}; });
    }
    // NOLINTNEXTLINE(modernize-use-nullptr): false positive on the 0 in "a <=> b < 0"
    friend constexpr auto operator<=>(const AddressBytes&, const AddressBytes&) = default;
};

using MacAddress = AddressBytes<6, struct MacTag>;
using Ipv4Address = AddressBytes<4, struct Ipv4Tag>;
using Ipv6Address = AddressBytes<16, struct Ipv6Tag>;
/// A GID is written like an IPv6 address; a RoCEv2 GID of an IPv4 address is ::ffff:a.b.c.d.
using Gid = Ipv6Address;

/// monostate: there is none.
using IpAddress = std::variant<std::monostate, Ipv4Address, Ipv6Address>;

/// "24:8a:07:a8:fa:22"
std::string text(const MacAddress& address);
/// "192.0.2.1"
std::string text(const Ipv4Address& address);
/// RFC 5952: "2001:db8::1", "::ffff:192.0.2.1"
std::string text(const Ipv6Address& address);

/// The same; empty if there is none.
std::string text(const IpAddress& address);

/// Maximum length of an address as text: eight groups of four digits (IPv6).
inline constexpr std::size_t longest_address = 39;

/// Writes the same text to `at`, which needs room for longest_address characters. Returns the end.
char* put(char* at, const MacAddress& address);
char* put(char* at, const Ipv4Address& address);
char* put(char* at, const Ipv6Address& address);

/// Appends the same text to `out`.
void append(std::string& out, const MacAddress& address);
void append(std::string& out, const Ipv4Address& address);
void append(std::string& out, const Ipv6Address& address);

}  // namespace wire

#include "trace/flow/host.hpp"

#include <arpa/inet.h>
#include <cstddef>

namespace flow {
namespace {

constexpr std::uint64_t ipv4_mapped = 0xffff'0000'0000;
constexpr std::uint64_t lid_prefix = 0xffff'ffff'0000'0000;

template <std::size_t Offset, std::size_t Count, typename Address>
std::uint64_t number(const Address& address) {
    std::uint64_t value = 0;
    for (std::size_t i = Offset; i < Offset + Count; ++i)
        value = value << 8 | address.bytes[i];
    return value;
}

template <std::size_t Offset, std::size_t Count, typename Address>
void put(Address& address, std::uint64_t value) {
    for (std::size_t i = Offset + Count; i-- > Offset; value >>= 8)
        address.bytes[i] = static_cast<std::uint8_t>(value);
}

}  // namespace

Host Host::of(const wire::Ipv4Address& address) {
    return {.high = 0, .low = ipv4_mapped | number<0, 4>(address)};
}

Host Host::of(const wire::Ipv6Address& address) {
    return {.high = number<0, 8>(address), .low = number<8, 8>(address)};
}

std::optional<Host> Host::of(const wire::IpAddress& address) {
    if (const auto* v4 = std::get_if<wire::Ipv4Address>(&address))
        return of(*v4);
    const auto* v6 = std::get_if<wire::Ipv6Address>(&address);
    return v6 == nullptr ? std::nullopt : std::optional(of(*v6));
}

Host Host::of_lid(std::uint16_t lid) {
    return {.high = lid_prefix, .low = lid};
}

bool Host::is_lid() const {
    return high == lid_prefix && low <= 0xffff;
}

std::optional<Host> host_of_gid(std::string_view gid) {
    wire::Ipv6Address address;
    if (inet_pton(AF_INET6, std::string(gid).c_str(), address.bytes.data()) != 1)
        return std::nullopt;
    return Host::of(address);
}

std::string text(const Host& host, Network network) {
    if (host.is_lid())
        return wire::lid_text(static_cast<std::uint16_t>(host.low));
    if (network == Network::Ipv4) {
        wire::Ipv4Address address;
        put<0, 4>(address, host.low);
        return wire::text(address);
    }
    wire::Ipv6Address address;
    put<0, 8>(address, host.high);
    put<8, 8>(address, host.low);
    return wire::text(address);
}

std::string text(const Host& host) {
    return text(host, host.is_ipv4() ? Network::Ipv4 : Network::Ipv6);
}

}  // namespace flow

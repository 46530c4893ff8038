#include "forge/lab_only.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <netinet/in.h>
#include <string>

#include <fmt/format.h>

#include "util/error.hpp"

namespace forge {
namespace {

constexpr std::array<std::uint8_t, 3> lab_ipv4{192, 0, 2};
constexpr std::array<std::uint8_t, 8> lab_ipv6{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0};
constexpr std::array<std::uint8_t, 12> mapped_ipv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool begins_with(const auto& address, const auto& prefix) {
    return std::equal(prefix.begin(), prefix.end(), address.bytes.begin());
}

template <typename Address>
Address bytes_at(const void* source) {
    Address address;
    std::memcpy(address.bytes.data(), source, address.bytes.size());
    return address;
}

[[noreturn]] void refuse(const std::string& what) {
    throw util::Error(fmt::format(
        "{}: forged packets stay inside the lab, 192.0.2.0/24 and 2001:db8::/64. Run this step "
        "with lab/lab capture 09.",
        what));
}

}  // namespace

bool is_in_lab(const wire::Ipv4Address& address) {
    return begins_with(address, lab_ipv4);
}

bool is_in_lab(const wire::Ipv6Address& address) {
    if (begins_with(address, mapped_ipv4)) {
        wire::Ipv4Address inner;
        std::copy_n(address.bytes.begin() + mapped_ipv4.size(), inner.bytes.size(),
                    inner.bytes.begin());
        return is_in_lab(inner);
    }
    return begins_with(address, lab_ipv6);
}

bool is_in_lab(const util::Address& address) {
    if (address.is_ipv6())
        return is_in_lab(bytes_at<wire::Ipv6Address>(
            &reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_addr));
    return address.get()->sa_family == AF_INET &&
           is_in_lab(bytes_at<wire::Ipv4Address>(
               &reinterpret_cast<const sockaddr_in*>(address.get())->sin_addr));
}

void require_lab(const util::Address& address) {
    if (!is_in_lab(address))
        refuse(fmt::format("{} is not one of the lab's addresses", address.host()));
}

void require_lab(const wire::Packet& packet) {
    const bool is_esp =
        (packet.ipv4 && packet.ipv4->protocol == wire::ip_protocol::encapsulation) ||
        (packet.ipv6 && packet.ipv6->next_header == wire::ip_protocol::encapsulation);
    if ((!is_esp && (!packet.is_roce() || !packet.udp)) || !packet.vlans.empty())
        refuse("this frame is no untagged RoCEv2 or ESP packet");
    const bool stays =
        packet.ipv4 ? is_in_lab(packet.ipv4->src) && is_in_lab(packet.ipv4->dst)
                    : packet.ipv6 && is_in_lab(packet.ipv6->src) && is_in_lab(packet.ipv6->dst);
    if (!stays)
        refuse(fmt::format("a packet from {} to {} is not between the lab's addresses",
                           packet.ipv4 ? text(packet.ipv4->src) : text(packet.ipv6->src),
                           packet.ipv4 ? text(packet.ipv4->dst) : text(packet.ipv6->dst)));
}

}  // namespace forge

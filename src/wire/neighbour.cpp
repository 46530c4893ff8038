#include "wire/neighbour.hpp"

#include <string_view>

#include <fmt/format.h>

namespace wire {
namespace {

template <typename Address>
IpAddress unless_zero(const Address& address) {
    return address == Address() ? IpAddress() : IpAddress(address);
}

std::optional<Neighbour> arp(util::Bytes message) {
    constexpr std::size_t size = 28;
    constexpr std::uint32_t ethernet_and_ipv4 = 0x00010800;
    constexpr std::uint16_t lengths = 0x0604;
    constexpr std::uint16_t request = 1;
    constexpr std::uint16_t reply = 2;
    util::Cursor cursor(message);
    const auto bytes = cursor.take<size>();
    if (!bytes || util::be32<0>(*bytes) != ethernet_and_ipv4 || util::be16<4>(*bytes) != lengths)
        return std::nullopt;
    const std::uint16_t operation = util::be16<6>(*bytes);
    if (operation != request && operation != reply)
        return std::nullopt;
    return Neighbour{.is_reply = operation == reply,
                     .sender = unless_zero(Ipv4Address::at<14>(*bytes)),
                     .target = Ipv4Address::at<24>(*bytes)};
}

std::optional<Neighbour> ndp(const Ipv6& ip, util::Bytes message) {
    constexpr std::size_t size = 24;
    constexpr std::uint8_t on_this_link = 255;  // no router has forwarded it
    constexpr std::uint8_t solicitation = 135;
    constexpr std::uint8_t advertisement = 136;
    util::Cursor cursor(message);
    const auto bytes = cursor.take<size>();
    if (!bytes || ip.next_header != ip_protocol::icmp_v6 || ip.hop_limit != on_this_link ||
        util::be8<1>(*bytes) != 0)
        return std::nullopt;
    const auto address = Ipv6Address::at<8>(*bytes);
    switch (util::be8<0>(*bytes)) {
        case solicitation:
            return Neighbour{.sender = unless_zero(ip.src), .target = address};
        case advertisement:
            return Neighbour{.is_reply = true, .sender = address, .target = ip.dst};
        default:
            return std::nullopt;
    }
}

}  // namespace

std::optional<Neighbour> neighbour(const Packet& packet, util::Bytes frame) {
    if (packet.not_roce == NotRoce::Arp)
        return arp(packet.trail.find(Header::Rest).of(frame));
    util::Cursor cursor(frame);
    if (packet.not_roce == NotRoce::OtherIpProtocol && packet.ipv6 &&
        cursor.take(packet.trail.ip().end))
        return ndp(*packet.ipv6, cursor.rest());
    return std::nullopt;
}

std::string Neighbour::text() const {
    const std::string_view protocol = std::holds_alternative<Ipv4Address>(target) ? "ARP" : "NDP";
    if (is_reply)
        return fmt::format("{} reply of {}", protocol, wire::text(sender));
    return fmt::format("{} who has {}? Tell {}", protocol, wire::text(target), wire::text(sender));
}

}  // namespace wire

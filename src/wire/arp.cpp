#include "wire/arp.hpp"

#include <fmt/format.h>

namespace wire {

std::optional<Arp> arp(const Packet& packet, util::Bytes frame) {
    constexpr std::size_t size = 28;
    constexpr std::uint32_t ethernet_and_ipv4 = 0x00010800;
    constexpr std::uint16_t lengths = 0x0604;
    constexpr std::uint16_t request = 1;
    constexpr std::uint16_t reply = 2;
    if (packet.not_roce != NotRoce::Arp)
        return std::nullopt;
    util::Cursor cursor(packet.trail.find(Header::Rest).of(frame));
    const auto bytes = cursor.take<size>();
    if (!bytes || util::be32<0>(*bytes) != ethernet_and_ipv4 || util::be16<4>(*bytes) != lengths)
        return std::nullopt;
    const std::uint16_t operation = util::be16<6>(*bytes);
    if (operation != request && operation != reply)
        return std::nullopt;
    return Arp{.is_reply = operation == reply,
               .sender = Ipv4Address::at<14>(*bytes),
               .target = Ipv4Address::at<24>(*bytes)};
}

std::string Arp::text() const {
    return is_reply
               ? fmt::format("ARP reply of {}", wire::text(sender))
               : fmt::format("ARP who has {}? Tell {}", wire::text(target), wire::text(sender));
}

}  // namespace wire

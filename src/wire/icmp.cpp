#include "wire/icmp.hpp"

#include <array>

#include <fmt/format.h>

namespace wire {
namespace {

using What = IcmpError::What;

std::optional<What> what_of_v4(std::uint8_t type, std::uint8_t code) {
    constexpr std::uint8_t unreachable = 3;
    constexpr std::uint8_t exceeded = 11;
    constexpr std::uint8_t port = 3;
    constexpr std::uint8_t fragmentation_needed = 4;
    if (type == exceeded && code == 0)
        return What::TimeExceeded;
    if (type != unreachable)
        return std::nullopt;
    return code == port                   ? What::PortUnreachable
           : code == fragmentation_needed ? What::TooBig
                                          : What::Unreachable;
}

std::optional<What> what_of_v6(std::uint8_t type, std::uint8_t code) {
    constexpr std::uint8_t unreachable = 1;
    constexpr std::uint8_t too_big = 2;
    constexpr std::uint8_t exceeded = 3;
    constexpr std::uint8_t port = 4;
    if (type == unreachable)
        return code == port ? What::PortUnreachable : What::Unreachable;
    if (type == too_big)
        return What::TooBig;
    return type == exceeded && code == 0 ? std::optional(What::TimeExceeded) : std::nullopt;
}

}  // namespace

std::optional<IcmpError> icmp_error(const Packet& packet, util::Bytes frame) {
    constexpr std::size_t header_size = 8;
    const bool is_v4 = packet.ipv4 && packet.ipv4->protocol == ip_protocol::icmp;
    const bool is_v6 = packet.ipv6 && packet.ipv6->next_header == ip_protocol::icmp_v6;
    util::Cursor cursor(frame);
    if (packet.not_roce != NotRoce::OtherIpProtocol || (!is_v4 && !is_v6) ||
        !cursor.take(packet.trail.ip().end))
        return std::nullopt;
    const auto header = cursor.take<header_size>();
    if (!header)
        return std::nullopt;
    const std::uint8_t type = util::be8<0>(*header);
    const std::uint8_t code = util::be8<1>(*header);
    const auto what = is_v4 ? what_of_v4(type, code) : what_of_v6(type, code);
    if (!what)
        return std::nullopt;
    IcmpError error{
        .what = *what,
        .quoted = decode(cursor.rest(), LinkType::RawIp, cursor.remaining(), IcrcCheck::Skip)};
    const Packet& quoted = error.quoted;
    if (!quoted.udp || quoted.udp->dst_port != roce_v2_port || quoted.outer)
        return std::nullopt;
    if (*what == What::TooBig)
        error.mtu = is_v4 ? util::be16<6>(*header) : util::be32<4>(*header);
    return error;
}

std::string_view IcmpError::name() const {
    constexpr std::array<std::string_view, 4> names{"time exceeded", "destination unreachable",
                                                    "port unreachable", "packet too big"};
    return names[static_cast<std::size_t>(what)];
}

std::string IcmpError::text() const {
    std::string text = fmt::format("{} {}", quoted.ipv4 ? "ICMP" : "ICMPv6", name());
    if (mtu != 0)
        text += fmt::format(" (MTU {})", mtu);
    text += quoted.ipv4 ? fmt::format(", about {} → {}", wire::text(quoted.ipv4->src),
                                      wire::text(quoted.ipv4->dst))
                        : fmt::format(", about {} → {}", wire::text(quoted.ipv6->src),
                                      wire::text(quoted.ipv6->dst));
    text += fmt::format(" UDP {} → {}", quoted.udp->src_port, quoted.udp->dst_port);
    if (quoted.bth)
        text +=
            fmt::format(" qp {:#08x} psn {:#08x}", quoted.bth->dest_qpn, quoted.bth->psn.value());
    return text;
}

}  // namespace wire

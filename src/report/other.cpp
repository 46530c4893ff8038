#include "report/other.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "wire/tcp.hpp"

namespace report {
namespace {

std::string flag_names(std::uint8_t flags) {
    constexpr std::array<std::pair<unsigned, std::string_view>, 3> shown{
        {{2, " SYN"}, {1, " FIN"}, {4, " RST"}}};
    std::string names;
    for (const auto& [bit, name] : shown)
        if ((flags & bit) != 0)
            names += name;
    return names;
}

// https://www.iana.org/assignments/protocol-numbers
std::string protocol_name(std::uint8_t protocol) {
    switch (protocol) {
        case 1:
            return "ICMP";
        case 2:
            return "IGMP";
        case 58:
            return "ICMPv6";
        default:
            return fmt::format("IP protocol {}", protocol);
    }
}

std::string tcp_summary(const wire::Packet& packet, util::Bytes frame) {
    const auto tcp = wire::tcp_segment(packet, frame);
    if (!tcp)
        return "TCP";
    std::string text =
        fmt::format("TCP {} → {}{}", tcp->src_port, tcp->dst_port, flag_names(tcp->flags));
    if (tcp->payload_length != 0)
        text += fmt::format(" len {}", tcp->payload_length);
    else if (flag_names(tcp->flags).empty())
        text += " ack";
    return text;
}

}  // namespace

std::string other_summary(const wire::Packet& packet, util::Bytes frame) {
    switch (packet.not_roce.value_or(wire::NotRoce::OtherEtherType)) {
        case wire::NotRoce::Tcp:
            return tcp_summary(packet, frame);
        case wire::NotRoce::OtherUdpPort:
            if (packet.udp)
                return fmt::format("UDP {} → {} len {}", packet.udp->src_port, packet.udp->dst_port,
                                   packet.udp->length - int{wire::Udp::size});
            break;
        case wire::NotRoce::OtherIpProtocol:
            if (packet.ipv4)
                return protocol_name(packet.ipv4->protocol);
            if (packet.ipv6)
                return protocol_name(packet.ipv6->next_header);
            break;
        case wire::NotRoce::OtherEtherType: {
            const auto type = packet.vlans.empty()
                                  ? (packet.ethernet ? packet.ethernet->type : 0)
                                  : packet.vlans.tags[packet.vlans.count - 1U].type;
            return fmt::format("EtherType 0x{:04x}", packet.sll ? packet.sll->protocol : type);
        }
        case wire::NotRoce::Arp:
        case wire::NotRoce::LaterFragment:
        case wire::NotRoce::IpExtension:
            break;
    }
    return packet.not_roce ? std::string(wire::text(*packet.not_roce)) : "not decoded";
}

}  // namespace report

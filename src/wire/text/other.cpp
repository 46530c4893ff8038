#include "wire/text/other.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "wire/tcp.hpp"

namespace wire {
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

std::string tcp_summary(const Packet& packet, util::Bytes frame) {
    const auto tcp = tcp_segment(packet, frame);
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

std::string other_summary(const Packet& packet, util::Bytes frame) {
    switch (packet.not_roce.value_or(NotRoce::OtherEtherType)) {
        case NotRoce::Tcp:
            return tcp_summary(packet, frame);
        case NotRoce::OtherUdpPort:
            if (packet.udp)
                return fmt::format("UDP {} → {} len {}", packet.udp->src_port, packet.udp->dst_port,
                                   packet.udp->length - int{Udp::size});
            break;
        case NotRoce::OtherIpProtocol:
            if (packet.ipv4)
                return protocol_name(packet.ipv4->protocol);
            if (packet.ipv6)
                return protocol_name(packet.ipv6->next_header);
            break;
        case NotRoce::OtherEtherType: {
            const auto type = packet.vlans.empty()
                                  ? (packet.ethernet ? packet.ethernet->type : 0)
                                  : packet.vlans.tags[packet.vlans.count - 1U].type;
            return fmt::format("EtherType 0x{:04x}", packet.sll ? packet.sll->protocol : type);
        }
        case NotRoce::Arp:
        case NotRoce::LaterFragment:
        case NotRoce::IpExtension:
            break;
    }
    return packet.not_roce ? std::string(text(*packet.not_roce)) : "not decoded";
}

}  // namespace wire

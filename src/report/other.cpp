#include "report/other.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace report {
namespace {

std::size_t link_size(const wire::Packet& packet) {
    if (packet.sll)
        return packet.sll->version == 2 ? wire::LinuxCooked::size2 : wire::LinuxCooked::size;
    if (!packet.ethernet)
        return 0;
    return wire::Ethernet::size + packet.vlans.count * wire::Vlan::size;
}

struct IpLayout {
    std::size_t header = 0;   // bytes
    std::size_t payload = 0;  // bytes behind it, as its length field says
};

// IPv6 only without extension headers.
std::optional<IpLayout> ip_layout(const wire::Packet& packet) {
    if (packet.ipv4 && packet.ipv4->total_length >= packet.ipv4->header_length)
        return IpLayout{packet.ipv4->header_length,
                        std::size_t{packet.ipv4->total_length} - packet.ipv4->header_length};
    if (packet.ipv6 && packet.ipv6->next_header == wire::ip_protocol::tcp)
        return IpLayout{wire::Ipv6::size, packet.ipv6->payload_length};
    return std::nullopt;
}

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

std::optional<TcpSegment> tcp_segment(const wire::Packet& packet, util::Bytes frame) {
    const auto ip = ip_layout(packet);
    if (packet.not_roce != wire::NotRoce::Tcp || !ip)
        return std::nullopt;
    constexpr std::size_t tcp_size = 20;
    util::Cursor cursor(frame);
    if (!cursor.take(link_size(packet) + ip->header))
        return std::nullopt;
    const auto header = cursor.take<tcp_size>();
    if (!header)
        return std::nullopt;
    const std::size_t length = (util::be8<12>(*header) >> 4U) * std::size_t{4};
    return TcpSegment{util::be16<0>(*header), util::be16<2>(*header), util::be8<13>(*header),
                      ip->payload > length ? ip->payload - length : 0};
}

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

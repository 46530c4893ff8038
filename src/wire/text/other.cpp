#include "wire/text/other.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "wire/icmp.hpp"
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

// EtherType of the innermost payload, or the protocol type of the innermost encapsulation.
std::uint16_t last_ether_type(const Packet& packet) {
    if (packet.outer && !packet.outer->carries_ethernet)
        return packet.outer->innermost().extra;
    if (!packet.vlans.empty())
        return packet.vlans.tags[packet.vlans.count - 1U].type;
    if (packet.ethernet)
        return packet.ethernet->type;
    return packet.sll ? packet.sll->protocol : 0;
}

std::string type_name(const Packet& packet) {
    const std::uint16_t type = last_ether_type(packet);
    const bool is_in_tunnel = packet.outer && !packet.outer->carries_ethernet;
    if (is_in_tunnel && packet.outer->innermost().kind == OuterKind::Pppoe)
        return fmt::format("PPP protocol 0x{:04x}", type);
    if (type <= max_length_field && !is_in_tunnel && !packet.sll)
        return "LLC";
    return fmt::format("EtherType 0x{:04x}", type);
}

std::uint8_t last_protocol(const Packet& packet) {
    return packet.ipv4 ? packet.ipv4->protocol : packet.ipv6 ? packet.ipv6->next_header : 0;
}

std::string raw_infiniband(const Packet& packet) {
    return packet.rwh ? fmt::format("raw InfiniBand packet, EtherType 0x{:04x}", packet.rwh->etype)
                      : "raw InfiniBand packet, IPv6";
}

std::string kind_inside(const Packet& packet) {
    if (!packet.not_roce)
        return packet.malformed ? "malformed before the BTH" : "truncated before the BTH";
    switch (*packet.not_roce) {
        case NotRoce::OtherUdpPort: {
            const auto name = packet.udp ? undecoded_tunnel(packet.udp->dst_port) : "";
            return name.empty() ? "UDP" : std::string(name);
        }
        case NotRoce::OtherIpProtocol:
            return protocol_name(last_protocol(packet));
        case NotRoce::OtherEtherType:
            return type_name(packet);
        case NotRoce::MacControl:
            return packet.mac_control && packet.mac_control->is_pfc()     ? "PFC"
                   : packet.mac_control && packet.mac_control->is_pause() ? "PAUSE"
                                                                          : "MAC control";
        case NotRoce::LaterFragment:
            return "later IP fragments";
        case NotRoce::Esp:
            return "ESP";
        case NotRoce::RawInfiniband:
            return raw_infiniband(packet);
        case NotRoce::InfinibandLink:
            return "InfiniBand link packets";
        case NotRoce::OtherErf:
            return fmt::format("ERF type {}", packet.erf->type);
        case NotRoce::Encapsulation: {
            const auto name = undecoded_encapsulation(last_ether_type(packet));
            return name.empty() ? "other encapsulations" : std::string(name);
        }
        default:
            return std::string(text(*packet.not_roce));
    }
}

std::string innermost_summary(const Packet& packet, util::Bytes frame) {
    switch (packet.not_roce.value_or(NotRoce::OtherEtherType)) {
        case NotRoce::Tcp:
            return tcp_summary(packet, frame);
        case NotRoce::OtherUdpPort:
            if (packet.udp)
                return fmt::format("UDP {} → {} len {}", packet.udp->src_port, packet.udp->dst_port,
                                   packet.udp->length - int{Udp::size});
            break;
        case NotRoce::OtherIpProtocol:
            if (const auto error = icmp_error(packet, frame))
                return error->text();
            return protocol_name(last_protocol(packet));
        case NotRoce::OtherEtherType:
            return type_name(packet);
        case NotRoce::MacControl:
            if (packet.mac_control)
                return packet.mac_control->text();
            break;
        case NotRoce::Encapsulation:
            if (const auto name = undecoded_encapsulation(last_ether_type(packet)); !name.empty())
                return fmt::format("{}, which is not decoded", name);
            break;
        case NotRoce::RawInfiniband:
            return raw_infiniband(packet);
        case NotRoce::InfinibandLink:
            return "InfiniBand link packet";
        case NotRoce::OtherErf:
            return fmt::format("ERF type {}", packet.erf->type);
        case NotRoce::Arp:
        case NotRoce::LaterFragment:
        case NotRoce::Esp:
        case NotRoce::TooDeep:
        case NotRoce::Undecodable:
            break;
    }
    return packet.not_roce ? std::string(text(*packet.not_roce)) : "not decoded";
}

}  // namespace

std::string other_summary(const Packet& packet, util::Bytes frame) {
    const std::string what = innermost_summary(packet, frame);
    return packet.outer ? packet.outer->text() + ": " + what : what;
}

std::string other_kind(const Packet& packet) {
    if (!packet.outer)
        return kind_inside(packet);
    return fmt::format("{} with {} inside", label(packet.outer->innermost().kind),
                       kind_inside(packet));
}

std::uint16_t other_number(const Packet& packet) {
    switch (packet.not_roce.value_or(NotRoce::Arp)) {
        case NotRoce::OtherEtherType:
        case NotRoce::Encapsulation: {
            const std::uint16_t type = last_ether_type(packet);
            return type <= max_length_field ? 0 : type;
        }
        case NotRoce::OtherIpProtocol:
            return last_protocol(packet);
        case NotRoce::OtherUdpPort:
            return packet.udp && !undecoded_tunnel(packet.udp->dst_port).empty()
                       ? packet.udp->dst_port
                       : 0;
        case NotRoce::MacControl:
            return packet.mac_control ? packet.mac_control->opcode : 0;
        case NotRoce::RawInfiniband:
            return packet.rwh ? packet.rwh->etype : ether_type::ipv6;
        case NotRoce::OtherErf:
            return packet.erf->type;
        default:
            return 0;
    }
}

}  // namespace wire

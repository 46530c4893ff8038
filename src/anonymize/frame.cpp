// The link and network layers, and the messages that belong to them: ARP, neighbour discovery, ICMP.
#include "anonymize/frame.hpp"

#include <algorithm>

#include "anonymize/subject.hpp"
#include "wire/icmp.hpp"
#include "wire/neighbour.hpp"

namespace anonymize {
namespace {

using wire::Header;
using wire::Ipv4Address;
using wire::Ipv6Address;
using wire::MacAddress;

// The link-layer address of a cooked header has room for eight bytes.
void replace_cooked(const Subject& subject) {
    const MutableBytes header = subject.part(Header::Sll);
    if (header.empty())
        return;
    const wire::LinuxCooked& sll = *subject.packet.sll;
    constexpr std::size_t at = 6;
    constexpr std::size_t at2 = 12;
    const MutableBytes address =
        header.subspan(sll.version == 1 ? at : at2, wire::CookedAddress::size);
    const bool is_mac = sll.address_length == MacAddress::size;
    if (is_mac)
        subject.address<MacAddress>(address, 0);
    zero(address.subspan(is_mac ? MacAddress::size : 0));
}

// The Ethernet address of an IP group has the group's last bits (RFC 1112, 6.4; RFC 2464, 7).
MacAddress group_address(MacAddress address, const Ipv4Address& group) {
    std::ranges::copy_n(group.bytes.begin() + 1, 3, address.bytes.begin() + 3);
    address.bytes[3] &= 0x7f;
    return address;
}
MacAddress group_address(MacAddress address, const Ipv6Address& group) {
    std::ranges::copy_n(group.bytes.begin() + 12, 4, address.bytes.begin() + 2);
    return address;
}

template <typename Ip>
auto destination_now(const Subject& subject, auto member) {
    return wire::parse<Ip>(subject.part(Ip::Fields::header).template first<Ip::size>()).*member;
}

// Call it after network_layer(): a group's address comes from the new IP address.
void replace_macs(const Subject& subject) {
    const wire::Packet& packet = subject.packet;
    subject.change<wire::Ethernet>([&](wire::Ethernet& ethernet) {
        MacAddress& to = ethernet.dst;
        if (packet.ipv4 && to == group_address({{0x01, 0, 0x5e}}, packet.ipv4->dst))
            to = group_address(to, destination_now<wire::Ipv4>(subject, &wire::Ipv4::dst));
        else if (packet.ipv6 && to == group_address({{0x33, 0x33}}, packet.ipv6->dst))
            to = group_address(to, destination_now<wire::Ipv6>(subject, &wire::Ipv6::dst));
        else if (packet.grh && to == group_address({{0x33, 0x33}}, packet.grh->dgid))
            to = group_address(to, destination_now<wire::Grh>(subject, &wire::Grh::dgid));
        else
            to = subject.pseudonyms.of(to);
        ethernet.src = subject.pseudonyms.of(ethernet.src);
    });
}

// Zeroes what IPv6 extension headers and authentication headers have, except for a fragment's
// position. `next`: the protocol of the first.
void zero_extensions(MutableBytes headers, std::uint8_t next) {
    constexpr std::size_t unit = 8;
    while (headers.size() >= unit) {
        const auto words = std::to_integer<std::size_t>(headers[1]);
        const bool is_fragment = next == wire::ip_protocol::fragment;
        const std::size_t size = is_fragment                                 ? unit
                                 : next == wire::ip_protocol::authentication ? unit + words * 4
                                                                             : unit + words * unit;
        next = std::to_integer<std::uint8_t>(headers[0]);
        const MutableBytes header = headers.first(std::min(size, headers.size()));
        if (!is_fragment)
            zero(header.subspan(2));
        headers = headers.subspan(header.size());
    }
    zero(headers);
}

void replace_network(const Subject& subject) {
    const auto replace = [&](auto& ip) {
        ip.src = subject.pseudonyms.of(ip.src);
        ip.dst = subject.pseudonyms.of(ip.dst);
    };
    subject.change<wire::Ipv4>(replace);
    subject.change<wire::Ipv6>(replace);
    subject.change<wire::Grh>([&](wire::Grh& grh) {
        grh.sgid = subject.pseudonyms.of(grh.sgid);
        grh.dgid = subject.pseudonyms.of(grh.dgid);
    });
    if (const MutableBytes ip = subject.part(Header::Ipv4); !ip.empty()) {
        const wire::Ipv4& header = *subject.packet.ipv4;
        const std::size_t options = std::max<std::size_t>(header.header_length, wire::Ipv4::size);
        zero(from(ip, wire::Ipv4::size).first(std::min(options, ip.size()) - wire::Ipv4::size));
        zero_extensions(from(ip, options), header.protocol);
    }
    if (const MutableBytes ip = subject.part(Header::Ipv6); !ip.empty())
        zero_extensions(ip.subspan(wire::Ipv6::size), subject.packet.ipv6->next_header);
}

// Zeroes what no header has: a part that was not decoded, and what follows the packet's end.
void zero_rest(const Subject& subject) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Header::Rest); ++i)
        end = std::max<std::size_t>(end, subject.packet.trail.find(static_cast<Header>(i)).end);
    // The first byte tells a DC header from an RDETH, also if the rest of it is missing.
    const wire::Packet& packet = subject.packet;
    if (packet.bth && wire::is_rd_or_dc_opcode(packet.bth->opcode) && !packet.rdeth &&
        !packet.dceth && packet.trail.has(Header::Rest))
        ++end;
    zero(from(subject.frame, end));
}

// Zeroes what follows the end of a message.
void zero_trailer(const Subject& subject) {
    zero(from(subject.frame, subject.packet.trail.find(Header::Rest).end));
}

void replace_arp(const Subject& subject) {
    constexpr std::size_t sender = 8;
    constexpr std::size_t target = 18;
    constexpr std::size_t size = 28;
    const MutableBytes message = subject.part(Header::Rest);
    for (const std::size_t at : {sender, target}) {
        subject.address<MacAddress>(message, at);
        subject.address<Ipv4Address>(message, at + MacAddress::size);
    }
    zero(from(message, size));
}

// RFC 4861, 4.6. Options 1 and 2 have the link-layer addresses of the source and the target.
void replace_options(const Subject& subject, MutableBytes options) {
    constexpr std::size_t unit = 8;
    while (options.size() >= unit && options[1] != std::byte{0}) {
        const std::size_t size =
            std::min(std::to_integer<std::size_t>(options[1]) * unit, options.size());
        const bool is_mac =
            (options[0] == std::byte{1} || options[0] == std::byte{2}) && size == unit;
        if (is_mac)
            subject.address<MacAddress>(options, 2);
        else
            zero(options.subspan(2, size - 2));
        options = options.subspan(size);
    }
    zero(options);
}

// The group of hosts whose addresses have the same last bits (RFC 4291, 2.7.1).
bool is_solicited_node(const Ipv6Address& address) {
    constexpr Ipv6Address prefix{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff}};
    return std::ranges::equal(std::span(address.bytes).first<13>(),
                              std::span(prefix.bytes).first<13>());
}

void replace_neighbour_discovery(const Subject& subject) {
    constexpr std::size_t target = 8;
    const MutableBytes message = subject.part(Header::Rest);
    subject.address<Ipv6Address>(message, target);
    replace_options(subject, from(message, target + Ipv6Address::size));
    if (is_solicited_node(subject.packet.ipv6->dst))
        subject.change<wire::Ipv6>([&](wire::Ipv6& ip) {
            ip.dst = subject.packet.ipv6->dst;
            std::ranges::transform(
                message.subspan(target + 13, 3), ip.dst.bytes.begin() + 13,
                [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
        });
    zero_trailer(subject);
    seal_icmp(subject);
}

void replace_icmp(const Subject& subject) {
    constexpr std::size_t header = 8;
    const wire::Extent message = subject.packet.trail.find(Header::Rest);
    const MutableBytes quoted = from(message.of(subject.frame), header);
    const util::Bytes before = message.of(subject.before).subspan(header);
    const wire::Packet packet = wire::decode(before, wire::LinkType::RawIp);
    const Subject inner{packet, before, quoted, subject.pseudonyms, subject.data};
    replace_network(inner);
    replace_transport(inner);
    zero_rest(inner);
    seal(inner);
    zero_trailer(subject);
    seal_icmp(subject);
}

enum class Kind { Roce, Pause, Arp, NeighbourDiscovery, IcmpError };

// Also a packet that ends before its BTH.
bool is_roce(const wire::Packet& packet) {
    return packet.bth || packet.grh ||
           (packet.udp && packet.udp->dst_port == wire::roce_v2_port && !packet.not_roce);
}

// nullopt: it is not known what each byte means. The IP length may be below that of the message.
std::optional<Kind> kind_of(const Subject& subject) {
    constexpr std::size_t icmp_header = 8;
    constexpr std::size_t neighbour_message = 24;
    const wire::Packet& packet = subject.packet;
    const std::size_t size = subject.part(Header::Rest).size();
    // How a packet with a reserved opcode is decoded depends on its data.
    if (packet.lrh || packet.erf || (packet.bth && packet.opcode == nullptr))
        return std::nullopt;
    if (is_roce(packet))
        return Kind::Roce;
    if (packet.mac_control && (packet.mac_control->is_pause() || packet.mac_control->is_pfc()))
        return Kind::Pause;
    if (size >= icmp_header && wire::icmp_error(packet, subject.before))
        return Kind::IcmpError;
    if (size < neighbour_message || !wire::neighbour(packet, subject.before))
        return std::nullopt;
    return packet.not_roce == wire::NotRoce::Arp ? Kind::Arp : Kind::NeighbourDiscovery;
}

void replace_message(const Subject& subject, Kind kind) {
    switch (kind) {
        case Kind::Roce:
            replace_transport(subject);
            return zero_rest(subject);
        case Kind::Pause:
            return zero_rest(subject);
        case Kind::Arp:
            return replace_arp(subject);
        case Kind::NeighbourDiscovery:
            return replace_neighbour_discovery(subject);
        case Kind::IcmpError:
            return replace_icmp(subject);
    }
}

bool replace(const Subject& subject) {
    const auto kind = kind_of(subject);
    if (!kind)
        return false;
    replace_network(subject);
    replace_message(subject, *kind);
    replace_cooked(subject);
    replace_macs(subject);
    seal(subject);
    return true;
}

// How the packet begins without its encapsulations. nullopt: it can only follow an EtherType.
std::optional<wire::LinkType> inner_link(const wire::Packet& packet, wire::LinkType link) {
    if (!packet.outer)
        return link;
    if (packet.outer->carries_ethernet)
        return wire::LinkType::Ethernet;
    const wire::Extent ip = packet.trail.ip();
    return !ip.empty() && ip.begin == packet.trail.find(Header::Outer).end
               ? std::optional(wire::LinkType::RawIp)
               : std::nullopt;
}

}  // namespace

std::optional<Anonymous> Anonymizer::frame(const wire::Packet& packet, util::Bytes frame,
                                           wire::LinkType link) {
    const auto begin = inner_link(packet, link);
    bytes_.assign(frame.begin(), frame.end());
    if (!begin || !replace({packet, frame, bytes_, pseudonyms_, data_}))
        return std::nullopt;
    const std::size_t removed =
        std::min<std::size_t>(packet.trail.find(Header::Outer).end, frame.size());
    return Anonymous{
        .bytes = util::Bytes(bytes_).subspan(removed), .link = *begin, .removed = removed};
}

}  // namespace anonymize

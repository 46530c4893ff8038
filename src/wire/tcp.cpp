#include "wire/tcp.hpp"

#include <algorithm>

namespace wire {
namespace {

std::size_t link_size(const Packet& packet) {
    const std::size_t tags = packet.vlans.count * Vlan::size;
    if (packet.sll)
        return tags + (packet.sll->version == 2 ? LinuxCooked::size2 : LinuxCooked::size);
    return tags + (packet.ethernet ? Ethernet::size : 0);
}

struct IpLayout {
    std::size_t header = 0;   // bytes
    std::size_t payload = 0;  // bytes behind it, as its length field says
};

// IPv6 only without extension headers.
std::optional<IpLayout> ip_layout(const Packet& packet) {
    if (packet.ipv4 && packet.ipv4->total_length >= packet.ipv4->header_length)
        return IpLayout{packet.ipv4->header_length,
                        std::size_t{packet.ipv4->total_length} - packet.ipv4->header_length};
    if (packet.ipv6 && packet.ipv6->next_header == ip_protocol::tcp)
        return IpLayout{Ipv6::size, packet.ipv6->payload_length};
    return std::nullopt;
}

}  // namespace

std::optional<TcpSegment> tcp_segment(const Packet& packet, util::Bytes frame) {
    const auto ip = ip_layout(packet);
    if (packet.not_roce != NotRoce::Tcp || !ip)
        return std::nullopt;
    util::Cursor cursor(frame);
    if (!cursor.take(link_size(packet) + ip->header))
        return std::nullopt;
    const auto header = cursor.take<TcpSegment::size>();
    if (!header)
        return std::nullopt;
    const std::size_t length = (util::be8<12>(*header) >> 4U) * std::size_t{4};
    TcpSegment segment{util::be16<0>(*header),
                       util::be16<2>(*header),
                       util::be8<13>(*header),
                       length,
                       ip->payload > length ? ip->payload - length : 0,
                       {}};
    // Behind it, Ethernet may have padding.
    if (length >= TcpSegment::size && cursor.take(length - TcpSegment::size))
        segment.payload = cursor.rest().first(std::min(cursor.remaining(), segment.payload_length));
    return segment;
}

}  // namespace wire

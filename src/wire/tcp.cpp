#include "wire/tcp.hpp"

#include <algorithm>

namespace wire {
namespace {

// Number of bytes after the IP headers, from their length field.
std::optional<std::size_t> ip_payload(const Packet& packet) {
    const std::size_t headers = packet.trail.ip().size();
    const std::size_t length = packet.ipv4   ? packet.ipv4->total_length
                               : packet.ipv6 ? packet.ipv6->payload_length + Ipv6::size
                                             : 0;
    return length < headers ? std::nullopt : std::optional(length - headers);
}

}  // namespace

std::optional<TcpSegment> tcp_segment(const Packet& packet, util::Bytes frame) {
    const auto ip = ip_payload(packet);
    if (packet.not_roce != NotRoce::Tcp || !ip)
        return std::nullopt;
    util::Cursor cursor(frame);
    if (!cursor.take(packet.trail.ip().end))
        return std::nullopt;
    const auto header = cursor.take<TcpSegment::size>();
    if (!header)
        return std::nullopt;
    const std::size_t length = (util::be8<12>(*header) >> 4U) * std::size_t{4};
    TcpSegment segment{util::be16<0>(*header),          util::be16<2>(*header),
                       util::be8<13>(*header),          length,
                       *ip > length ? *ip - length : 0, {}};
    // Ethernet padding may follow the payload.
    if (length >= TcpSegment::size && cursor.take(length - TcpSegment::size))
        segment.payload = cursor.rest().first(std::min(cursor.remaining(), segment.payload_length));
    return segment;
}

}  // namespace wire

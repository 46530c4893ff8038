#include "wire/header_span.hpp"

#include <algorithm>
#include <array>

#include "wire/tcp.hpp"

namespace wire {

std::string_view name(Header header) {
    // In the order of Header.
    constexpr std::array<std::string_view, 34> names{
        "outer",        "sll",   "eth",    "vlan",     "llc",  "macc",      "pause",
        "pfc",          "ip",    "ipv6",   "grh",      "udp",  "bth",       "rdeth",
        "dceth",        "deth",  "xrceth", "feth",     "reth", "atomiceth", "aeth",
        "atomicacketh", "immdt", "ieth",   "reserved", "mad",  "cm",        "payload",
        "pad",          "icrc",  "rest",   "tcp",      "data", "trailer"};
    return names[static_cast<std::size_t>(header)];
}

std::vector<HeaderSpan> header_spans(const Packet& packet, util::Bytes frame) {
    std::vector<HeaderSpan> spans;
    std::size_t at = 0;
    const auto add = [&](Header header, std::size_t end) {
        end = std::min(end, frame.size());
        if (at >= end)
            return;
        spans.push_back({header, at, end - at});
        at = end;
    };
    const auto segment = tcp_segment(packet, frame);
    for (std::size_t index = 0; index <= static_cast<std::size_t>(Header::Rest); ++index) {
        const auto header = static_cast<Header>(index);
        const std::size_t end = packet.trail.find(header).end;
        if (header == Header::Vlan)
            for (std::size_t tag = 0; tag < Vlans::capacity; ++tag)
                add(header, std::min(at + Vlan::size, end));
        if (header == Header::Rest && segment) {
            add(Header::Tcp,
                std::min(at + std::max(segment->header_length, TcpSegment::size), end));
            if (segment->header_length >= TcpSegment::size)
                add(Header::TcpData, std::min(at + segment->payload_length, end));
        }
        add(header, end);
    }
    add(Header::Trailer, frame.size());
    return spans;
}

}  // namespace wire

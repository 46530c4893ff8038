#include "wire/header_span.hpp"

#include <algorithm>
#include <array>

#include "wire/tcp.hpp"

namespace wire {

namespace {

struct Text {
    std::string_view name;
    std::string_view title;
};
// In the order of Header.
constexpr auto texts = std::to_array<Text>({
    {"outer", "Encapsulations"},
    {"sll", "Linux cooked capture"},
    {"erf", "ERF: extensible record format"},
    {"eth", "Ethernet"},
    {"vlan", "VLAN tag"},
    {"llc", "LLC and SNAP"},
    {"macc", "MAC control"},
    {"pause", "PAUSE"},
    {"pfc", "PFC: priority-based flow control"},
    {"lrh", "LRH: local route header"},
    {"rwh", "RWH: raw header"},
    {"ip", "IPv4"},
    {"ipv6", "IPv6"},
    {"grh", "GRH: global route header"},
    {"udp", "UDP"},
    {"bth", "BTH: base transport header"},
    {"rdeth", "RDETH: reliable datagram extended header"},
    {"dceth", "DC header: dynamically connected transport"},
    {"deth", "DETH: datagram extended header"},
    {"xrceth", "XRCETH: XRC extended header"},
    {"feth", "FETH: flush extended header"},
    {"reth", "RETH: RDMA extended header"},
    {"atomiceth", "AtomicETH: atomic extended header"},
    {"aeth", "AETH: ACK extended header"},
    {"atomicacketh", "AtomicAckETH: atomic acknowledge header"},
    {"immdt", "ImmDt: immediate data"},
    {"ieth", "IETH: invalidate extended header"},
    {"reserved", "Reserved bytes of a CNP"},
    {"mad", "MAD: management datagram"},
    {"cm", "CM: the connection manager's message"},
    {"smp", "SMP: subnet management packet"},
    {"payload", "Payload"},
    {"pad", "Padding to four bytes"},
    {"icrc", "ICRC: invariant CRC"},
    {"rest", "Not decoded"},
    {"vcrc", "VCRC: variant CRC"},
    {"tcp", "TCP"},
    {"data", "TCP's data"},
    {"trailer", "After the packet's end"},
});
static_assert(texts.size() == static_cast<std::size_t>(Header::Trailer) + 1);

}  // namespace

std::string_view name(Header header) {
    return texts[static_cast<std::size_t>(header)].name;
}

std::string_view title(Header header) {
    return texts[static_cast<std::size_t>(header)].title;
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
    for (std::size_t index = 0; index <= static_cast<std::size_t>(Header::Vcrc); ++index) {
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

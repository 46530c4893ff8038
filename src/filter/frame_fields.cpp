#include <array>

#include "filter/field_tables.hpp"
#include "filter/getter.hpp"
#include "util/printable.hpp"
#include "wire/tcp.hpp"

namespace filter {
namespace {

using wire::CaptureNotes;
using wire::Erf;
using wire::Ethernet;
using wire::Grh;
using wire::Ipv4;
using wire::Ipv6;
using wire::LinuxCooked;
using wire::Lrh;
using wire::Packet;
using wire::TcpSegment;
using wire::Udp;
using wire::Vlan;
using enum Kind;

Value number(const View& view) {
    return view.number;
}
Value t_ns(const View& view) {
    return std::int64_t{view.time.count()};
}
Value len(const View& view) {
    return std::uint64_t{view.length};
}
Value caplen(const View& view) {
    return std::uint64_t{view.frame.size()};
}

Value interface_id(const View& view) {
    return to_value(view.notes.interface_id);
}
// Formats it as tshark does.
template <auto Note>
Value note(const View& view) {
    const std::string_view text = view.notes.*Note;
    if (text.empty())
        return {};
    view.scratch = util::printable(text);
    return std::string_view(view.scratch);
}

template <std::size_t Index, auto... Members>
Value vlan(const View& view) {
    const wire::Vlans& vlans = view.packet.vlans;
    return Index < vlans.count ? follow(vlans.tags[Index], Members...) : Value();
}
template <auto... Members>
Value tcp(const View& view) {
    const auto segment = wire::tcp_segment(view.packet, view.frame);
    return segment ? follow(*segment, Members...) : Value();
}
constexpr auto frame_table = std::to_array<Field>({
    {"frame", Decimal, "number in the capture, from 1", number, in_wireshark("frame.number")},
    {"time", Time, "seconds since 1970", t_ns, in_wireshark("frame.time_epoch")},
    {"t_ns", Signed, "nanoseconds since 1970", t_ns},
    {"len", Decimal, "bytes on the wire", len, in_wireshark("frame.len")},
    {"caplen", Decimal, "bytes captured", caplen, in_wireshark("frame.cap_len")},
    {"interface_id", Decimal, "number of its interface in the capture, from 0", interface_id,
     in_wireshark("frame.interface_id")},
    {"interface_name", Text, "the interface's name", note<&CaptureNotes::interface_name>,
     in_wireshark("frame.interface_name")},
    {"comment", Text, "comments on the packet", note<&CaptureNotes::comment>,
     in_wireshark("frame.comment")},

    {"eth", Present, "Ethernet header", has<&Packet::ethernet>},
    {"eth.dst", Mac, "destination", in<&Packet::ethernet, &Ethernet::dst>},
    {"eth.src", Mac, "source", in<&Packet::ethernet, &Ethernet::src>},
    {"eth.type", Hex4, "EtherType after the addresses", in<&Packet::ethernet, &Ethernet::type>},
    {"vlan", Present, "VLAN tag; the outer one if there are two", vlan<0>, {.json = "vlan[]"}},
    {"vlan.priority", Decimal, "priority, 0 to 7", vlan<0, &Vlan::priority>},
    {"vlan.dei", Flag, "drop eligible", vlan<0, &Vlan::dei>},
    {"vlan.id", Decimal, "VLAN", vlan<0, &Vlan::id>},
    {"vlan.etype", Hex4, "EtherType after the tag", vlan<0, &Vlan::type>},
    {"inner_vlan", Present, "inner VLAN tag, if there are two", vlan<1>, {.json = "vlan[]"}},
    {"inner_vlan.priority", Decimal, "priority, 0 to 7", vlan<1, &Vlan::priority>},
    {"inner_vlan.dei", Flag, "drop eligible", vlan<1, &Vlan::dei>},
    {"inner_vlan.id", Decimal, "VLAN", vlan<1, &Vlan::id>},
    {"inner_vlan.etype", Hex4, "EtherType after the tag", vlan<1, &Vlan::type>},
    {"sll", Present, "Linux cooked header", has<&Packet::sll>},
    {"sll.etype", Hex4, "EtherType", in<&Packet::sll, &LinuxCooked::protocol>},
    {"sll.hatype", Decimal, "the interface's type, ARPHRD_*",
     in<&Packet::sll, &LinuxCooked::arphrd>},
    {"sll.pkttype", Decimal, "0 to this host, 3 to another one, 4 from this host",
     in<&Packet::sll, &LinuxCooked::packet_type>},

    {"erf", Present, "ERF header, of capture cards and ibdump", has<&Packet::erf>},
    {"erf.type", Decimal, "21 InfiniBand, 2 Ethernet", in<&Packet::erf, &Erf::type>,
     in_wireshark("erf.types.type")},
    {"erf.flags", Hex2, "capture interface, truncated, ...", in<&Packet::erf, &Erf::flags>},
    {"erf.rlen", Decimal, "bytes of the record", in<&Packet::erf, &Erf::rlen>},
    {"erf.lctr", Decimal, "records lost before this one", in<&Packet::erf, &Erf::lctr>},
    {"erf.wlen", Decimal, "bytes of the frame on the wire", in<&Packet::erf, &Erf::wlen>},
    {"lrh", Present, "local route header, of native InfiniBand", has<&Packet::lrh>},
    {"lrh.vl", Hex2, "virtual lane; 0x0f: subnet management", in<&Packet::lrh, &Lrh::vl>},
    {"lrh.lver", Decimal, "link version, 0", in<&Packet::lrh, &Lrh::lver>},
    {"lrh.sl", Decimal, "service level", in<&Packet::lrh, &Lrh::sl>},
    {"lrh.lnh", Hex2, "next header: 2 BTH, 3 GRH, 0 and 1 raw", in<&Packet::lrh, &Lrh::lnh>},
    {"lrh.dlid", Decimal, "destination LID", in<&Packet::lrh, &Lrh::dlid>},
    {"lrh.pktlen", Decimal, "words of four bytes, from the LRH to the ICRC",
     in<&Packet::lrh, &Lrh::pktlen>},
    {"lrh.slid", Decimal, "source LID", in<&Packet::lrh, &Lrh::slid>},
    {"rwh", Present, "raw header, of a raw InfiniBand packet", has<&Packet::rwh>},
    {"rwh.etype", Hex4, "EtherType", in<&Packet::rwh, &wire::Rwh::etype>},

    {"ip", Present, "IPv4 header", has<&Packet::ipv4>},
    {"ip.src", Kind::Ipv4, "source", in<&Packet::ipv4, &Ipv4::src>},
    {"ip.dst", Kind::Ipv4, "destination", in<&Packet::ipv4, &Ipv4::dst>},
    {"ip.dscp", Decimal, "differentiated services code point", in<&Packet::ipv4, &Ipv4::dscp>,
     in_wireshark("ip.dsfield.dscp")},
    {"ip.ecn", Decimal, "0 not ECN capable, 1 and 2 capable, 3 congestion",
     in<&Packet::ipv4, &Ipv4::ecn>, in_wireshark("ip.dsfield.ecn")},
    {"ip.len", Decimal, "bytes, including this header", in<&Packet::ipv4, &Ipv4::total_length>},
    {"ip.id", Hex4, "identification", in<&Packet::ipv4, &Ipv4::id>},
    {"ip.df", Flag, "do not fragment", in<&Packet::ipv4, &Ipv4::df>, in_wireshark("ip.flags.df")},
    {"ip.ttl", Decimal, "time to live", in<&Packet::ipv4, &Ipv4::ttl>},
    {"ip.proto", Decimal, "protocol: 17 is UDP", in<&Packet::ipv4, &Ipv4::protocol>},
    {"ipv6", Present, "IPv6 header", has<&Packet::ipv6>},
    {"ipv6.src", Kind::Ipv6, "source", in<&Packet::ipv6, &Ipv6::src>},
    {"ipv6.dst", Kind::Ipv6, "destination", in<&Packet::ipv6, &Ipv6::dst>},
    {"ipv6.dscp", Decimal, "differentiated services code point", in<&Packet::ipv6, &Ipv6::dscp>,
     in_wireshark("ipv6.tclass.dscp")},
    {"ipv6.ecn", Decimal, "0 not ECN capable, 1 and 2 capable, 3 congestion",
     in<&Packet::ipv6, &Ipv6::ecn>, in_wireshark("ipv6.tclass.ecn")},
    {"ipv6.flow", Hex6, "flow label", in<&Packet::ipv6, &Ipv6::flow_label>},
    {"ipv6.plen", Decimal, "bytes after this header", in<&Packet::ipv6, &Ipv6::payload_length>},
    {"ipv6.nxt", Decimal, "next header: 17 is UDP", in<&Packet::ipv6, &Ipv6::next_header>},
    {"ipv6.hlim", Decimal, "hop limit", in<&Packet::ipv6, &Ipv6::hop_limit>},
    {"grh", Present, "global route header, of RoCEv1 and InfiniBand", has<&Packet::grh>},
    {"grh.ipver", Decimal, "version, 6", in<&Packet::grh, &Grh::ipver>},
    {"grh.tclass", Decimal, "traffic class", in<&Packet::grh, &Grh::tclass>},
    {"grh.flowlabel", Decimal, "flow label", in<&Packet::grh, &Grh::flowlabel>},
    {"grh.paylen", Decimal, "bytes after this header", in<&Packet::grh, &Grh::paylen>},
    {"grh.nxthdr", Decimal, "next header: 27 is the BTH", in<&Packet::grh, &Grh::nxthdr>},
    {"grh.hoplmt", Decimal, "hop limit", in<&Packet::grh, &Grh::hoplmt>},
    {"grh.sgid", Kind::Ipv6, "source GID", in<&Packet::grh, &Grh::sgid>},
    {"grh.dgid", Kind::Ipv6, "destination GID", in<&Packet::grh, &Grh::dgid>},
    {"udp", Present, "UDP header", has<&Packet::udp>},
    {"udp.srcport", Decimal, "source port; RoCEv2 uses it as entropy for ECMP",
     in<&Packet::udp, &Udp::src_port>},
    {"udp.dstport", Decimal, "destination port: 4791 is RoCEv2", in<&Packet::udp, &Udp::dst_port>},
    {"udp.length", Decimal, "bytes, including this header", in<&Packet::udp, &Udp::length>},
    {"tcp", Present, "TCP header of a packet that is not RoCE", tcp<>},
    {"tcp.srcport", Decimal, "source port", tcp<&TcpSegment::src_port>},
    {"tcp.dstport", Decimal, "destination port", tcp<&TcpSegment::dst_port>},
    {"tcp.flags", Hex2, "FIN 1, SYN 2, RST 4, PSH 8, ACK 16", tcp<&TcpSegment::flags>},
    {"tcp.len", Decimal, "bytes of payload", tcp<&TcpSegment::payload_length>},
});

}  // namespace

std::span<const Field> frame_fields() {
    return frame_table;
}

}  // namespace filter

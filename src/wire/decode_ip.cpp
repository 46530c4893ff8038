// Decodes the network layer (IPv4, IPv6, GRH) and UDP.
#include "util/in_place.hpp"
#include "wire/frame_decoder.hpp"

namespace wire {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t ipv6_extension_unit = 8;

constexpr bool is_skipped_extension(std::uint8_t next) {
    return next == ip_protocol::hop_by_hop || next == ip_protocol::destination_options ||
           next == ip_protocol::routing || next == ip_protocol::authentication;
}

}  // namespace

void FrameDecoder::begin_network(IcrcLayout layout) {
    cover_ = {.layout = layout,
              .begin = reader_.at(),
              .unchecked = icrc_ == IcrcCheck::Compute ? ""sv : "not computed"sv};
}

void FrameDecoder::ipv4() {
    begin_network(IcrcLayout::Ipv4Udp);
    const auto bytes = reader_.take<Ipv4::size>("IPv4 header", Header::Ipv4);
    if (!bytes)
        return;
    const Ipv4& ip = util::emplace_result(packet_.ipv4, [&] { return parse<Ipv4>(*bytes); });
    if (ip.version != 4)
        return reader_.fault(Fault::IpVersion, "IPv4 header", ip.version);
    if (ip.header_length < Ipv4::size)
        return reader_.fault(Fault::IpHeaderLength, "IPv4", ip.header_length, Ipv4::size);
    if (ip.header_length != Ipv4::size) {
        cover_.unchecked = "IPv4 options, whose part in the ICRC is not specified";
        packet_.trail.put(Header::Ipv4, reader_.at() + ip.header_length - Ipv4::size);
    }
    // Not valid in segments that the NIC has yet to split (TSO), which is no fault.
    const bool is_length_valid = ip.total_length >= ip.header_length;
    if (is_length_valid)
        reader_.end_after(ip.total_length - Ipv4::size);
    if (ip.protocol != ip_protocol::udp && ip.protocol != ip_protocol::authentication &&
        !is_tunnel_protocol(ip.protocol))
        return other_protocol(ip.protocol);
    if (ip.fragment_offset != 0)
        return not_roce(NotRoce::LaterFragment);
    if (!is_length_valid)
        return reader_.fault(Fault::LengthTooSmall, "IPv4", ip.total_length, ip.header_length);
    if (!reader_.skip(ip.header_length - Ipv4::size, "IPv4 options"))
        return;
    const std::string_view fragmented = ip.mf ? "IPv4" : "";
    if (ip.protocol == ip_protocol::udp)
        return udp(fragmented);
    behind_ip(ip.protocol, fragmented);
}

void FrameDecoder::ipv6() {
    begin_network(IcrcLayout::Ipv6Udp);
    const auto bytes = reader_.take<Ipv6::size>("IPv6 header", Header::Ipv6);
    if (!bytes)
        return;
    const Ipv6& ip = util::emplace_result(packet_.ipv6, [&] { return parse<Ipv6>(*bytes); });
    if (ip.version != 6)
        return reader_.fault(Fault::IpVersion, "IPv6 header", ip.version);
    reader_.end_after(ip.payload_length);
    if (ip.next_header != ip_protocol::udp)
        cover_.unchecked = "IPv6 extension headers, whose part in the ICRC is not specified";
    ipv6_next(ip.next_header);
}

/// Walks the extension headers up to UDP.
void FrameDecoder::ipv6_next(std::uint8_t next) {
    std::string_view fragmented;
    while (next != ip_protocol::udp) {
        if (next != ip_protocol::fragment && !is_skipped_extension(next))
            return behind_ip(next, fragmented);
        if (next == ip_protocol::fragment && reader_.rest().size() >= ipv6_extension_unit) {
            const std::uint16_t fragment =
                util::be16<2>(reader_.rest().first<ipv6_extension_unit>());
            if (fragment >> 3 != 0) {
                packet_.trail.put(Header::Ipv6, reader_.at() + ipv6_extension_unit);
                return not_roce(NotRoce::LaterFragment);
            }
            if ((fragment & 1U) != 0)
                fragmented = "IPv6";
        }
        const auto following = ip_extension(next);
        if (!following)
            return;
        next = *following;
    }
    udp(fragmented);
}

void FrameDecoder::behind_ip(std::uint8_t protocol, std::string_view fragmented) {
    while (protocol == ip_protocol::authentication) {
        cover_.unchecked = "an authentication header, whose part in the ICRC is not specified";
        const auto next = ip_extension(protocol);
        if (!next)
            return;
        protocol = *next;
    }
    if (protocol == ip_protocol::udp)
        return udp(fragmented);
    if (!is_tunnel_protocol(protocol))
        return other_protocol(protocol);
    if (!fragmented.empty())
        reader_.cut();
    inner(decode_ip_tunnel(protocol, reader_, packet_));
}

/// Skips one extension header and returns the protocol after it (RFC 8200, section 4; RFC
/// 4302). A fragment header has the same layout, without a length.
std::optional<std::uint8_t> FrameDecoder::ip_extension(std::uint8_t protocol) {
    const bool is_authentication = protocol == ip_protocol::authentication;
    const std::string_view what =
        is_authentication ? "authentication header" : "IPv6 extension header";
    const auto bytes = reader_.take<ipv6_extension_unit>(what);
    if (!bytes)
        return std::nullopt;
    const std::size_t unit = is_authentication                   ? 4
                             : protocol == ip_protocol::fragment ? 0
                                                                 : ipv6_extension_unit;
    if (!reader_.skip(util::be8<1>(*bytes) * unit, what))
        return std::nullopt;
    packet_.trail.put(packet_.ipv4 ? Header::Ipv4 : Header::Ipv6, reader_.at());
    return util::be8<0>(*bytes);
}

void FrameDecoder::other_protocol(std::uint8_t protocol) {
    switch (protocol) {
        case ip_protocol::tcp:
            return not_roce(NotRoce::Tcp);
        case ip_protocol::encapsulation:
            return not_roce(NotRoce::Esp);
        default:
            return not_roce(NotRoce::OtherIpProtocol);
    }
}

void FrameDecoder::grh() {
    begin_network(IcrcLayout::Grh);
    const auto bytes = reader_.take<Grh::size>("GRH", Header::Grh);
    if (!bytes)
        return;
    const Grh& grh = util::emplace_result(packet_.grh, [&] { return parse<Grh>(*bytes); });
    if (grh.ipver != 6)
        return reader_.fault(Fault::IpVersion, "GRH", grh.ipver);
    if (grh.nxthdr != ip_protocol::iba)
        return reader_.fault(Fault::GrhNextHeader, "GRH", grh.nxthdr);
    if (!packet_.lrh)
        reader_.end_after(grh.paylen);
    else if (grh.paylen != reader_.left())
        reader_.fault(Fault::GrhLength, "GRH", grh.paylen, reader_.left());
    decode_transport(reader_, cover_, packet_);
}

void FrameDecoder::udp(std::string_view fragmented) {
    const auto bytes = reader_.take<Udp::size>("UDP header", Header::Udp);
    if (!bytes)
        return;
    const Udp& udp = util::emplace_result(packet_.udp, [&] { return parse<Udp>(*bytes); });
    if (udp.dst_port != roce_v2_port || ports_ == RocePorts::None)
        return other_port(udp, fragmented);
    roce_v2(udp, fragmented);
}

void FrameDecoder::roce_v2(const Udp& udp, std::string_view fragmented) {
    if (udp.length < Udp::size)
        return reader_.fault(Fault::LengthTooSmall, "UDP", udp.length, Udp::size);
    if (!fragmented.empty()) {
        reader_.fault(Fault::FirstFragment, fragmented, 0);
        reader_.forget_end();
    }
    if (reader_.end_is_known())
        udp_length(udp.length - Udp::size);
    decode_transport(reader_, cover_, packet_);
}

void FrameDecoder::other_port(const Udp& udp, std::string_view fragmented) {
    const std::uint16_t port = udp.dst_port;
    if (udp.src_port == roce_v2_port && ports_ == RocePorts::Either)
        return roce_v2(udp, fragmented);
    if (!is_tunnel_port(port))
        return not_roce(NotRoce::OtherUdpPort);
    if (udp.length >= Udp::size && udp.length - Udp::size < reader_.left())
        reader_.end_after(udp.length - Udp::size);
    if (!fragmented.empty())
        reader_.cut();
    inner(decode_udp_tunnel(port, reader_, packet_));
    // Other programs may use the port: report only RoCE packets as malformed.
    const bool is_roce =
        packet_.grh || packet_.bth || (packet_.udp && packet_.udp->dst_port == roce_v2_port);
    if (packet_.malformed && !packet_.truncated && !is_roce)
        not_roce(packet_.udp ? NotRoce::OtherUdpPort : NotRoce::Undecodable);
}

void FrameDecoder::udp_length(std::size_t length) {
    if (length != reader_.left())
        reader_.fault(Fault::UdpLength, "UDP", length + Udp::size, reader_.left() + Udp::size);
    if (length < reader_.left())
        reader_.end_after(length);
}

}  // namespace wire

// Link, network and UDP layers; from the BTH on it is decode_transport.cpp.
#include "util/in_place.hpp"
#include "wire/decode_transport.hpp"
#include "wire/frame_reader.hpp"
#include "wire/packet.hpp"

namespace wire {
namespace {

using namespace std::string_view_literals;

class Decoder {
  public:
    Decoder(util::Bytes frame, std::size_t original_length, IcrcCheck icrc, Packet& packet)
        : reader_(frame, original_length, packet), icrc_(icrc), packet_(packet) {}

    void link(LinkType type) {
        switch (type) {
            case LinkType::Ethernet:
                return ethernet();
            case LinkType::LinuxCooked:
                return cooked<LinuxCooked::size>(LinuxCooked::parse);
            case LinkType::LinuxCooked2:
                return cooked<LinuxCooked::size2>(LinuxCooked::parse2);
            case LinkType::RawIp:
                return raw_ip();
        }
    }

  private:
    void ethernet() {
        const auto bytes = reader_.take<Ethernet::size>("Ethernet header");
        if (!bytes)
            return;
        const Ethernet& ethernet =
            util::emplace_result(packet_.ethernet, [&] { return Ethernet::parse(*bytes); });
        network(ethernet.type);
    }

    template <std::size_t N>
    void cooked(LinuxCooked (*parse)(util::FixedBytes<N>)) {
        const auto bytes = reader_.take<N>("Linux cooked header");
        if (!bytes)
            return;
        packet_.sll = parse(*bytes);
        network(packet_.sll->protocol);
    }

    void raw_ip() {
        if (reader_.rest().empty()) {
            reader_.take<Ipv4::size>("IP header");
            return;
        }
        const auto version = std::to_integer<unsigned>(reader_.rest().front() >> 4);
        if (version == 4)
            return ipv4();
        if (version == 6)
            return ipv6();
        reader_.fault(Fault::IpVersion, "IP", version);
    }

    void network(std::uint16_t type) {
        switch (type) {
            case ether_type::ipv4:
                return ipv4();
            case ether_type::ipv6:
                return ipv6();
            case ether_type::roce_v1:
                return grh();
            case ether_type::vlan:
            case ether_type::service_vlan:
                return vlan();
            case ether_type::arp:
                return not_roce(NotRoce::Arp);
            default:
                return not_roce(NotRoce::OtherEtherType);
        }
    }

    void vlan() {
        if (packet_.vlans.count == Vlans::capacity)
            return not_roce(NotRoce::OtherEtherType);
        const auto bytes = reader_.take<Vlan::size>("VLAN tag");
        if (!bytes)
            return;
        const Vlan tag = Vlan::parse(*bytes);
        packet_.vlans.tags[packet_.vlans.count++] = tag;
        network(tag.type);
    }

    void ipv4() {
        begin_network(IcrcLayout::Ipv4Udp);
        const auto bytes = reader_.take<Ipv4::size>("IPv4 header");
        if (!bytes)
            return;
        const Ipv4& ip = util::emplace_result(packet_.ipv4, [&] { return Ipv4::parse(*bytes); });
        if (ip.version != 4)
            return reader_.fault(Fault::IpVersion, "IPv4 header", ip.version);
        if (ip.header_length < Ipv4::size)
            return reader_.fault(Fault::IpHeaderLength, "IPv4", ip.header_length, Ipv4::size);
        // Judged before the length, which segments that the NIC has yet to cut up do not have.
        if (ip.protocol != ip_protocol::udp)
            return other_protocol(ip.protocol);
        if (ip.fragment_offset != 0)
            return not_roce(NotRoce::LaterFragment);
        if (ip.total_length < ip.header_length)
            return reader_.fault(Fault::LengthTooSmall, "IPv4", ip.total_length, ip.header_length);
        reader_.end_after(ip.total_length - Ipv4::size);
        if (ip.header_length != Ipv4::size)
            cover_.unchecked = "IPv4 options, whose part in the ICRC is not specified";
        if (reader_.skip(ip.header_length - Ipv4::size, "IPv4 options"))
            udp(ip.mf ? "IPv4" : "");
    }

    void ipv6() {
        begin_network(IcrcLayout::Ipv6Udp);
        const auto bytes = reader_.take<Ipv6::size>("IPv6 header");
        if (!bytes)
            return;
        const Ipv6& ip = util::emplace_result(packet_.ipv6, [&] { return Ipv6::parse(*bytes); });
        if (ip.version != 6)
            return reader_.fault(Fault::IpVersion, "IPv6 header", ip.version);
        reader_.end_after(ip.payload_length);
        if (ip.next_header != ip_protocol::udp)
            cover_.unchecked = "IPv6 extension headers, whose part in the ICRC is not specified";
        ipv6_next(ip.next_header);
    }

    /// Walks the extension headers up to UDP (RFC 8200, section 4).
    void ipv6_next(std::uint8_t next) {
        bool is_first_fragment = false;
        while (next != ip_protocol::udp) {
            const bool is_options =
                next == ip_protocol::hop_by_hop || next == ip_protocol::destination_options;
            if (!is_options && next != ip_protocol::fragment)
                return other_protocol(next);
            const auto bytes = reader_.take<ipv6_extension_unit>("IPv6 extension header");
            if (!bytes)
                return;
            next = util::be8<0>(*bytes);
            if (is_options) {
                const std::size_t more = util::be8<1>(*bytes) * ipv6_extension_unit;
                if (!reader_.skip(more, "IPv6 extension header"))
                    return;
                continue;
            }
            const std::uint16_t fragment = util::be16<2>(*bytes);
            if (fragment >> 3 != 0)
                return not_roce(NotRoce::LaterFragment);
            is_first_fragment = (fragment & 1U) != 0;
        }
        udp(is_first_fragment ? "IPv6" : "");
    }

    void grh() {
        begin_network(IcrcLayout::Grh);
        const auto bytes = reader_.take<Grh::size>("GRH");
        if (!bytes)
            return;
        const Grh& grh = util::emplace_result(packet_.grh, [&] { return Grh::parse(*bytes); });
        if (grh.ipver != 6)
            return reader_.fault(Fault::IpVersion, "GRH", grh.ipver);
        if (grh.nxthdr != ip_protocol::iba)
            return reader_.fault(Fault::GrhNextHeader, "GRH", grh.nxthdr);
        reader_.end_after(grh.paylen);
        decode_transport(reader_, cover_, packet_);
    }

    /// `fragmented`: the IP version when this is the first of several fragments, otherwise empty.
    void udp(std::string_view fragmented) {
        const auto bytes = reader_.take<Udp::size>("UDP header");
        if (!bytes)
            return;
        const Udp& udp = util::emplace_result(packet_.udp, [&] { return Udp::parse(*bytes); });
        if (udp.dst_port != roce_v2_port)
            return not_roce(NotRoce::OtherUdpPort);
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

    void udp_length(std::size_t length) {
        if (length != reader_.left())
            reader_.fault(Fault::UdpLength, "UDP", length + Udp::size, reader_.left() + Udp::size);
        if (length < reader_.left())
            reader_.end_after(length);
    }

    void begin_network(IcrcLayout layout) {
        cover_ = {.layout = layout,
                  .from_network_header = reader_.rest(),
                  .unchecked = icrc_ == IcrcCheck::Compute ? ""sv : "not computed"sv};
    }

    void other_protocol(std::uint8_t protocol) {
        switch (protocol) {
            case ip_protocol::tcp:
                return not_roce(NotRoce::Tcp);
            case ip_protocol::routing:
            case ip_protocol::authentication:
            case ip_protocol::encapsulation:
                return not_roce(NotRoce::IpExtension);
            default:
                return not_roce(NotRoce::OtherIpProtocol);
        }
    }

    /// What looked wrong on the way here is not ours to judge.
    void not_roce(NotRoce reason) {
        packet_.not_roce = reason;
        packet_.malformed.reset();
    }

    static constexpr std::size_t ipv6_extension_unit = 8;

    FrameReader reader_;
    IcrcCheck icrc_;
    IcrcCover cover_;
    Packet& packet_;
};

}  // namespace

Packet decode(util::Bytes frame, LinkType link, std::size_t original_length, IcrcCheck icrc) {
    Packet packet;
    Decoder(frame, original_length, icrc, packet).link(link);
    return packet;
}

}  // namespace wire

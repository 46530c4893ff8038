// Encapsulations: MPLS and PPPoE, which an EtherType names; tunnels over IP (IP, GRE, ERSPAN, MPLS)
// and UDP (VXLAN, GENEVE, GTP-U).
#include "wire/decode_outer.hpp"

#include <algorithm>

namespace wire {
namespace {

constexpr Inner inner_missing{};
constexpr Inner inner_ethernet{.as = Inner::As::Ethernet};
constexpr Inner inner_ip{.as = Inner::As::Ip};

constexpr Inner inner_not_roce(NotRoce reason) {
    return {.as = Inner::As::NotRoce, .reason = reason};
}
constexpr Inner inner_of_type(std::uint16_t type) {
    return {.as = Inner::As::EtherType, .type = type};
}

namespace gre_header {
constexpr unsigned checksum = 0x8000;
constexpr unsigned routing = 0x4000;
constexpr unsigned key = 0x2000;
constexpr unsigned sequence = 0x1000;
constexpr unsigned version = 0x0007;
constexpr std::uint16_t transparent_ethernet = 0x6558;
constexpr std::uint16_t erspan = 0x88be;  // types I and II
constexpr std::uint16_t erspan3 = 0x22eb;
constexpr std::uint16_t switch_mirror = 0x8949;
}  // namespace gre_header

// Decodes the headers of an encapsulation, and turns them into an outer layer of the packet.
class Tunnel {
  public:
    Tunnel(FrameReader& reader, Packet& packet) : reader_(reader), packet_(packet) {}

    Inner mpls() {
        OuterLayer layer{.kind = OuterKind::Mpls};
        bool is_bottom = false;
        while (!is_bottom) {
            const auto bytes = reader_.take<4>("MPLS label");
            if (!bytes)
                return inner_missing;
            const std::uint32_t entry = util::be32<0>(*bytes);
            layer.id = entry >> 12;
            layer.detail = static_cast<std::uint8_t>(std::min(layer.detail + 1, 255));
            is_bottom = (entry & 0x100U) != 0;
        }
        if (reader_.rest().empty()) {
            reader_.take<1>("MPLS payload");  // sets the reason
            return inner_missing;
        }
        return wrapped(layer, behind_labels());
    }

    // RFC 2516. The PPP protocol field has two bytes here (section 7).
    Inner pppoe() {
        constexpr unsigned version_and_type = 0x11;
        constexpr std::uint16_t ppp_ipv4 = 0x0021;
        constexpr std::uint16_t ppp_ipv6 = 0x0057;
        const auto bytes = reader_.take<8>("PPPoE header");
        if (!bytes)
            return inner_missing;
        const std::size_t length = util::be16<4>(*bytes);
        const std::uint16_t protocol = util::be16<6>(*bytes);
        if (util::be8<0>(*bytes) != version_and_type || util::be8<1>(*bytes) != 0 || length < 2)
            return inner_not_roce(NotRoce::OtherEtherType);
        const OuterLayer layer{
            .id = util::be16<2>(*bytes), .extra = protocol, .kind = OuterKind::Pppoe};
        shorten(length - 2);
        if (protocol == ppp_ipv4)
            return wrapped(layer, inner_of_type(ether_type::ipv4));
        if (protocol == ppp_ipv6)
            return wrapped(layer, inner_of_type(ether_type::ipv6));
        return wrapped(layer, inner_not_roce(NotRoce::OtherEtherType));
    }

    Inner ip_in_ip(std::uint16_t type) {
        return wrapped({.kind = OuterKind::Ip}, inner_of_type(type));
    }

    Inner gre() {
        const auto bytes = reader_.take<4>("GRE header");
        if (!bytes)
            return inner_missing;
        const unsigned flags = util::be16<0>(*bytes);
        OuterLayer layer{.extra = util::be16<2>(*bytes), .kind = OuterKind::Gre};
        // Source routes (RFC 1701) and version 1 (PPTP) are not used for Ethernet or IP.
        if ((flags & (gre_header::routing | gre_header::version)) != 0)
            return inner_not_roce(NotRoce::Encapsulation);
        if ((flags & gre_header::checksum) != 0 && !reader_.skip(4, "GRE checksum"))
            return inner_missing;
        if ((flags & gre_header::key) != 0) {
            const auto key = reader_.take<4>("GRE key");
            if (!key)
                return inner_missing;
            layer.id = util::be32<0>(*key);
            layer.detail = 1;
        }
        if ((flags & gre_header::sequence) != 0 && !reader_.skip(4, "GRE sequence number"))
            return inner_missing;
        return behind_gre(layer, flags);
    }

    Inner vxlan() {
        constexpr unsigned has_vni = 0x08;
        const auto bytes = reader_.take<8>("VXLAN header");
        if (!bytes)
            return inner_missing;
        if ((util::be8<0>(*bytes) & has_vni) == 0)
            return inner_not_roce(NotRoce::OtherUdpPort);
        return wrapped({.id = util::be24<4>(*bytes), .kind = OuterKind::Vxlan}, inner_ethernet);
    }

    Inner geneve() {
        constexpr unsigned option_words = 0x3f;
        const auto bytes = reader_.take<8>("GENEVE header");
        if (!bytes)
            return inner_missing;
        const unsigned first = util::be8<0>(*bytes);
        if (first > option_words)  // the version is not 0
            return inner_not_roce(NotRoce::OtherUdpPort);
        if (!reader_.skip(std::size_t{first} * 4, "GENEVE options"))
            return inner_missing;
        const std::uint16_t type = util::be16<2>(*bytes);
        return wrapped(
            {.id = util::be24<4>(*bytes), .extra = type, .kind = OuterKind::Geneve},
            type == gre_header::transparent_ethernet ? inner_ethernet : of_protocol_type(type));
    }

    // 3GPP TS 29.281, 5.1 and 5.2.
    Inner gtp() {
        constexpr unsigned version_1 = 0x30;  // and "protocol type" GTP
        constexpr unsigned optional_fields = 0x07;
        constexpr unsigned extensions = 0x04;
        constexpr std::uint8_t user_data = 255;
        const auto bytes = reader_.take<8>("GTP-U header");
        if (!bytes)
            return inner_missing;
        const unsigned flags = util::be8<0>(*bytes);
        if ((flags & 0xf0U) != version_1 || util::be8<1>(*bytes) != user_data)
            return inner_not_roce(NotRoce::OtherUdpPort);
        shorten(util::be16<2>(*bytes));
        if ((flags & optional_fields) != 0) {
            const auto optional = reader_.take<4>("GTP-U header");
            if (!optional ||
                ((flags & extensions) != 0 && !skip_gtp_extensions(util::be8<3>(*optional))))
                return inner_missing;
        }
        return wrapped({.id = util::be32<4>(*bytes), .kind = OuterKind::Gtp}, inner_ip);
    }

  private:
    /// Like end_after(), but ignores a length larger than the rest of the frame.
    void shorten(std::size_t length) {
        if (length < reader_.left())
            reader_.end_after(length);
    }

    /// Turns the headers decoded so far into the outer layer `layer` of the packet. Returns `inner`,
    /// or TooDeep if the packet has too many outer layers.
    Inner wrapped(OuterLayer layer, Inner inner) {
        Outer& outer = packet_.outer ? *packet_.outer : packet_.outer.emplace();
        if (outer.count == Outer::capacity)
            return inner_not_roce(NotRoce::TooDeep);
        layer.addresses = ip_addresses(packet_.trail.ip().of(reader_.taken()));
        outer.layers[outer.count++] = layer;
        outer.carries_ethernet = inner.as == Inner::As::Ethernet;
        packet_.ipv4.reset();
        packet_.ipv6.reset();
        packet_.udp.reset();
        packet_.trail = {};
        packet_.trail.put(Header::Outer, reader_.at());
        return inner;
    }

    /// A label stack does not say what it carries. The first four bits of an IP header are the
    /// version, those of a pseudowire's control word are zero (RFC 4385); an Ethernet address may
    /// have either value.
    Inner behind_labels() {
        constexpr std::size_t control_word = 4;
        const util::Bytes rest = reader_.rest();
        switch (std::to_integer<unsigned>(rest.front() >> 4)) {
            case 4:
                return has_known_type(0) && !is_ipv4_header(rest) ? inner_ethernet : inner_ip;
            case 6:
                return has_known_type(0) && !is_ipv6_header(rest) ? inner_ethernet : inner_ip;
            case 0:
                // With fewer bytes than a control word, skip() fails and sets the reason.
                if (has_known_type(0) && !has_known_type(control_word))
                    return inner_ethernet;
                return reader_.skip(control_word, "pseudowire control word") ? inner_ethernet
                                                                             : inner_missing;
            case 1:
                return has_known_type(0) ? inner_ethernet : inner_not_roce(NotRoce::Encapsulation);
            default:
                return inner_ethernet;
        }
    }

    /// Returns whether an Ethernet header at offset `skipped` has an EtherType that the decoder
    /// reads.
    bool has_known_type(std::size_t skipped) const {
        const util::Bytes rest = reader_.rest();
        if (rest.size() < skipped + Ethernet::size)
            return false;
        const auto type = parse<Ethernet>(rest.subspan(skipped).first<Ethernet::size>()).type;
        return type == ether_type::ipv4 || type == ether_type::ipv6 || type == ether_type::arp ||
               type == ether_type::roce_v1 || type == ether_type::pppoe_session ||
               type == ether_type::mac_control || is_vlan(type) || is_mpls(type);
    }

    /// Returns whether it has the length of an LLC frame instead.
    bool has_llc(std::size_t skipped) const {
        constexpr std::uint16_t least = 3;
        const auto type =
            parse<Ethernet>(reader_.rest().subspan(skipped).first<Ethernet::size>()).type;
        return type >= least && type <= max_length_field;
    }

    static bool is_ipv4_header(util::Bytes bytes) {
        return bytes.size() >= Ipv4::size &&
               internet_checksum(ones_sum(bytes.first(Ipv4::size))) == 0;
    }
    bool is_ipv6_header(util::Bytes bytes) const {
        return bytes.size() >= Ipv6::size &&
               parse<Ipv6>(bytes.first<Ipv6::size>()).payload_length + Ipv6::size == reader_.left();
    }

    Inner behind_gre(OuterLayer layer, unsigned flags) {
        constexpr std::uint32_t first_subnet = 0x1000;  // RFC 7637, 3.2: lower values are reserved
        const std::uint16_t type = layer.extra;
        if (type == gre_header::erspan || type == gre_header::erspan3)
            return erspan(type == gre_header::erspan3, (flags & gre_header::sequence) != 0);
        if (type == gre_header::switch_mirror)
            return switch_mirror(layer);
        if (type != gre_header::transparent_ethernet)
            return wrapped(layer, of_protocol_type(type));
        const bool has_key_alone =
            (flags & (gre_header::checksum | gre_header::key | gre_header::sequence)) ==
            gre_header::key;
        if (has_key_alone && layer.id >> 8 >= first_subnet) {
            layer.kind = OuterKind::Nvgre;
            layer.id >>= 8;
        }
        return wrapped(layer, inner_ethernet);
    }

    // Some switches put metadata of a fixed size before the mirrored frame.
    Inner switch_mirror(const OuterLayer& layer) {
        constexpr std::size_t metadata = 22;
        if (reader_.rest().size() >= metadata + Ethernet::size && !has_known_type(metadata) &&
            !has_llc(metadata))
            return wrapped(layer, inner_not_roce(NotRoce::Encapsulation));
        return reader_.skip(metadata, "mirror metadata") ? wrapped(layer, inner_ethernet)
                                                         : inner_missing;
    }

    Inner erspan(bool is_third, bool has_sequence) {
        constexpr unsigned truncated = 0x0400;
        constexpr std::size_t more_of_third = 4;
        OuterLayer layer{.kind = OuterKind::Erspan, .detail = 1};
        if (!is_third && !has_sequence)
            return wrapped(layer, inner_ethernet);
        const auto bytes = reader_.take<8>("ERSPAN header");
        if (!bytes)
            return inner_missing;
        const unsigned first = util::be16<0>(*bytes);
        const unsigned second = util::be16<2>(*bytes);
        layer.detail = is_third ? 3 : 2;
        if (first >> 12 != layer.detail - 1U)
            return inner_not_roce(NotRoce::Encapsulation);
        layer.id = second & 0x3ffU;
        layer.extra = static_cast<std::uint16_t>(first & 0xfffU);
        Inner inner = inner_ethernet;
        if (is_third) {
            const auto more = reader_.take<more_of_third>("ERSPAN header");
            if (!more)
                return inner_missing;
            inner = mirrored(util::be16<2>(*more));
            const bool has_platform_header = (util::be16<2>(*more) & 1U) != 0;
            if (has_platform_header && !reader_.skip(8, "ERSPAN platform header"))
                return inner_missing;
        }
        if ((second & truncated) != 0)
            reader_.cut();
        return wrapped(layer, inner);
    }

    // ERSPAN III: P(1) FT(5) Hw(6) D(1) Gra(2) O(1).
    static Inner mirrored(unsigned word) {
        constexpr unsigned frame_type_ip = 2;
        const unsigned frame_type = word >> 10 & 0x1fU;
        if (frame_type == 0)
            return inner_ethernet;
        return frame_type == frame_type_ip ? inner_ip : inner_not_roce(NotRoce::Encapsulation);
    }

    /// The protocol type of GRE or GENEVE is an EtherType, never a length.
    static Inner of_protocol_type(std::uint16_t type) {
        return type > max_length_field ? inner_of_type(type)
                                       : inner_not_roce(NotRoce::OtherEtherType);
    }

    bool skip_gtp_extensions(std::uint8_t next) {
        while (next != 0) {
            const auto words = reader_.take<1>("GTP-U extension header");
            if (!words)
                return false;
            if (util::be8<0>(*words) == 0) {
                reader_.fault(Fault::LengthTooSmall, "GTP-U extension header", 0, 1);
                return false;
            }
            if (!reader_.skip(util::be8<0>(*words) * std::size_t{4} - 2, "GTP-U extension header"))
                return false;
            const auto type = reader_.take<1>("GTP-U extension header");
            if (!type)
                return false;
            next = util::be8<0>(*type);
        }
        return true;
    }

    FrameReader& reader_;
    Packet& packet_;
};

}  // namespace

Inner decode_mpls(FrameReader& reader, Packet& packet) {
    return Tunnel(reader, packet).mpls();
}

Inner decode_pppoe(FrameReader& reader, Packet& packet) {
    return Tunnel(reader, packet).pppoe();
}

Inner decode_ip_tunnel(std::uint8_t protocol, FrameReader& reader, Packet& packet) {
    Tunnel tunnel(reader, packet);
    if (protocol == ip_protocol::gre)
        return tunnel.gre();
    if (protocol == ip_protocol::mpls)
        return tunnel.mpls();
    return tunnel.ip_in_ip(protocol == ip_protocol::ipv4 ? ether_type::ipv4 : ether_type::ipv6);
}

Inner decode_udp_tunnel(std::uint16_t port, FrameReader& reader, Packet& packet) {
    Tunnel tunnel(reader, packet);
    return port == vxlan_port    ? tunnel.vxlan()
           : port == geneve_port ? tunnel.geneve()
                                 : tunnel.gtp();
}

}  // namespace wire

// Encapsulations that an EtherType names: MPLS and PPPoE. MPLS may follow an IP header as well.
#include <algorithm>

#include "wire/decode_outer.hpp"
#include "wire/outer_wrapping.hpp"

namespace wire {
namespace {

class LinkWrapping : private Wrapping {
  public:
    using Wrapping::Wrapping;

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

  private:
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
        const auto type = Ethernet::parse(rest.subspan(skipped).first<Ethernet::size>()).type;
        return type == ether_type::ipv4 || type == ether_type::ipv6 || type == ether_type::arp ||
               type == ether_type::roce_v1 || type == ether_type::pppoe_session ||
               type == ether_type::mac_control || is_vlan(type) || is_mpls(type);
    }

    static bool is_ipv4_header(util::Bytes bytes) {
        return bytes.size() >= Ipv4::size &&
               internet_checksum(ones_sum(bytes.first(Ipv4::size))) == 0;
    }
    bool is_ipv6_header(util::Bytes bytes) const {
        return bytes.size() >= Ipv6::size &&
               Ipv6::parse(bytes.first<Ipv6::size>()).payload_length + Ipv6::size == reader_.left();
    }
};

}  // namespace

Inner decode_mpls(FrameReader& reader, const OuterPlace& place, Packet& packet) {
    return LinkWrapping(reader, place, packet).mpls();
}

Inner decode_pppoe(FrameReader& reader, const OuterPlace& place, Packet& packet) {
    return LinkWrapping(reader, place, packet).pppoe();
}

}  // namespace wire

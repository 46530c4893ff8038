// Decodes the link layer: Ethernet, Linux cooked headers, VLAN tags, LLC, MAC control.
#include "util/in_place.hpp"
#include "wire/frame_decoder.hpp"

namespace wire {

void FrameDecoder::whole(LinkType type) {
    link(type);
    if (packet_.icrc)
        return;
    // 0: a jumbogram's length is in an option (RFC 2675).
    const bool is_end_known = !packet_.ipv6 || packet_.ipv6->payload_length != 0;
    packet_.trail.put(Header::Rest, is_end_known ? reader_.end() : FrameReader::unknown_end);
}

void FrameDecoder::link(LinkType type) {
    switch (type) {
        case LinkType::Ethernet:
            return ethernet();
        case LinkType::LinuxCooked:
            return cooked<LinuxCooked::size>(LinuxCooked::parse);
        case LinkType::LinuxCooked2:
            return cooked<LinuxCooked::size2>(LinuxCooked::parse2);
        case LinkType::RawIp:
            return raw_ip();
        case LinkType::Infiniband:
            return infiniband();
        case LinkType::Erf:
            return erf();
    }
}

void FrameDecoder::ethernet() {
    const auto bytes = reader_.take<Ethernet::size>("Ethernet header", Header::Ethernet);
    if (!bytes)
        return;
    const Ethernet& ethernet =
        util::emplace_result(packet_.ethernet, [&] { return parse<Ethernet>(*bytes); });
    if (packet_.outer)
        packet_.vlans = {};
    network(ethernet.type);
}

template <std::size_t N>
void FrameDecoder::cooked(LinuxCooked (*parse)(util::FixedBytes<N>)) {
    const auto bytes = reader_.take<N>("Linux cooked header", Header::Sll);
    if (!bytes)
        return;
    packet_.sll = parse(*bytes);
    network(packet_.sll->protocol);
}

void FrameDecoder::raw_ip() {
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

void FrameDecoder::network(std::uint16_t type) {
    switch (type) {
        case ether_type::ipv4:
            return ipv4();
        case ether_type::ipv6:
            return ipv6();
        case ether_type::roce_v1:
            return grh();
        default:
            return other_type(type);
    }
}

void FrameDecoder::other_type(std::uint16_t type) {
    if (is_vlan(type))
        return vlan();
    if (is_mpls(type))
        return inner(decode_mpls(reader_, packet_));
    if (type == ether_type::pppoe_session)
        return inner(decode_pppoe(reader_, packet_));
    if (type == ether_type::mac_control)
        return mac_control();
    if (type == ether_type::arp)
        return not_roce(NotRoce::Arp);
    if (!undecoded_encapsulation(type).empty())
        return not_roce(NotRoce::Encapsulation);
    if (type <= max_length_field && (!packet_.sll || type == LinuxCooked::llc))
        return llc(type);
    not_roce(NotRoce::OtherEtherType);
}

void FrameDecoder::vlan() {
    std::uint16_t type = 0;
    do {
        const auto bytes = reader_.take<Vlan::size>("VLAN tag");
        if (!bytes)
            return;
        packet_.trail.put(packet_.trail.has(Header::Llc) ? Header::Llc : Header::Vlan,
                          reader_.at());
        const Vlan tag = parse<Vlan>(*bytes);
        packet_.vlans.push(tag);
        type = tag.type;
    } while (is_vlan(type));
    network(type);
}

/// IEEE 802.2. An EtherType follows a SNAP header with this OUI (RFC 1042).
void FrameDecoder::llc(std::uint16_t length) {
    constexpr std::uint32_t snap = 0xaaaa03;
    // A length of 0 to 2 belongs to some other protocol and is not an error.
    if (!packet_.sll && length < 3)
        return not_roce(NotRoce::OtherEtherType);
    if (!packet_.sll && length < reader_.left())
        reader_.end_after(length);
    const auto llc = reader_.take<3>("LLC header");
    if (!llc)
        return;
    if (util::be24<0>(*llc) != snap)
        return not_roce(NotRoce::OtherEtherType);
    const auto bytes = reader_.take<5>("SNAP header");
    if (!bytes)
        return;
    const std::uint16_t type = util::be16<3>(*bytes);
    // A second length is not an EtherType.
    if (util::be24<0>(*bytes) != 0 || type <= max_length_field)
        return not_roce(NotRoce::OtherEtherType);
    packet_.trail.put(Header::Llc, reader_.at());
    network(type);
}

void FrameDecoder::mac_control() {
    const auto opcode =
        reader_.take<MacControl::opcode_size>("MAC control opcode", Header::MacControl);
    if (!opcode)
        return;
    MacControl control{.opcode = util::be16<0>(*opcode)};
    if (control.is_pause()) {
        const auto bytes = reader_.take<MacControl::pause_size>("PAUSE", Header::Pause);
        if (!bytes)
            return;
        control.parse_pause(*bytes);
    } else if (control.is_pfc()) {
        const auto bytes = reader_.take<MacControl::pfc_size>("PFC", Header::Pfc);
        if (!bytes)
            return;
        control.parse_pfc(*bytes);
    }
    packet_.mac_control = control;
    not_roce(NotRoce::MacControl);
}

void FrameDecoder::inner(const Inner& inner) {
    switch (inner.as) {
        case Inner::As::Nothing:
            return;
        case Inner::As::NotRoce:
            return not_roce(inner.reason);
        case Inner::As::Ethernet:
            return ethernet();
        case Inner::As::EtherType:
            return network(inner.type);
        case Inner::As::Ip:
            return raw_ip();
    }
}

Packet decode(util::Bytes frame, LinkType link, std::size_t original_length, IcrcCheck icrc,
              RocePorts ports) {
    Packet packet;
    FrameDecoder(frame, original_length, icrc, ports, packet).whole(link);
    return packet;
}

}  // namespace wire

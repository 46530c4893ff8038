#include "wire/reseal.hpp"

#include <tuple>

#include "wire/icrc.hpp"
#include "wire/ip.hpp"

namespace wire {
namespace {

using MutableBytes = std::span<std::byte>;

void put16(MutableBytes bytes, std::size_t at, std::uint16_t value) {
    util::put_be16<0>(bytes.subspan(at).first<2>(), value);
}

void put_ip_checksum(MutableBytes ip) {
    constexpr std::size_t checksum_at = place_of<&Ipv4::checksum>.bit / 8;
    put16(ip, checksum_at, 0);
    put16(ip, checksum_at, internet_checksum(ones_sum(ip)));
}

void put_icrc(MutableBytes frame, const Trail& trail) {
    const auto [layout, header, size] =
        trail.has(Header::Ipv4)   ? std::tuple(IcrcLayout::Ipv4Udp, Header::Ipv4, Ipv4::size)
        : trail.has(Header::Ipv6) ? std::tuple(IcrcLayout::Ipv6Udp, Header::Ipv6, Ipv6::size)
                                  : std::tuple(IcrcLayout::Grh, Header::Grh, Grh::size);
    const Extent network = trail.find(header);
    const Extent icrc = trail.find(Header::Icrc);
    // No specification says what the ICRC covers with IPv4 options or IPv6 extension headers.
    if (icrc.of(frame).size() != icrc_size || network.size() != size)
        return;
    if (const auto value = compute_icrc(layout, Extent{network.begin, icrc.begin}.of(frame)))
        util::put_be32<0>(icrc.of(frame).first<icrc_size>(), *value);
}

void put_udp_checksum(MutableBytes frame, const Trail& trail) {
    constexpr std::size_t checksum_at = place_of<&Udp::checksum>.bit / 8;
    constexpr std::uint16_t zero_as_sent = 0xffff;  // 0 means "no checksum"
    const MutableBytes header = trail.find(Header::Udp).of(frame);
    if (header.empty())
        return;
    const Udp udp = parse<Udp>(header.first<Udp::size>());
    const MutableBytes rest = frame.subspan(trail.find(Header::Udp).begin);
    if (udp.checksum == 0 || udp.length < Udp::size || rest.size() < udp.length)
        return;
    const MutableBytes covered = rest.first(udp.length);
    put16(covered, checksum_at, 0);
    // Pseudo-header: addresses, protocol and length (RFC 768; RFC 8200, 8.1).
    const util::Bytes addresses = ip_addresses(trail.ip().of(frame));
    const std::uint16_t checksum = internet_checksum(ones_sum(addresses) + ip_protocol::udp +
                                                     covered.size() + ones_sum(covered));
    put16(covered, checksum_at, checksum == 0 ? zero_as_sent : checksum);
}

}  // namespace

void reseal(std::span<std::byte> frame, const Trail& trail, IcrcAfter icrc) {
    if (trail.has(Header::Ipv4))
        put_ip_checksum(trail.find(Header::Ipv4).of(frame));
    if (icrc == IcrcAfter::Good)
        put_icrc(frame, trail);
    put_udp_checksum(frame, trail);  // last: it covers the ICRC
}

}  // namespace wire

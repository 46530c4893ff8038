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

std::uint16_t at16(util::Bytes bytes, std::size_t at) {
    return util::be16<0>(bytes.subspan(at).first<2>());
}

constexpr std::size_t ip_checksum_at = place_of<&Ipv4::checksum>.bit / 8;
constexpr std::size_t udp_checksum_at = place_of<&Udp::checksum>.bit / 8;

}  // namespace

std::uint16_t right_ip_checksum(util::Bytes ip) {
    return internet_checksum(ones_sum(ip) - at16(ip, ip_checksum_at));
}

std::optional<std::uint32_t> right_icrc(util::Bytes frame, const Trail& trail) {
    const auto [layout, header, size] =
        trail.has(Header::Ipv4)   ? std::tuple(IcrcLayout::Ipv4Udp, Header::Ipv4, Ipv4::size)
        : trail.has(Header::Ipv6) ? std::tuple(IcrcLayout::Ipv6Udp, Header::Ipv6, Ipv6::size)
                                  : std::tuple(IcrcLayout::Grh, Header::Grh, Grh::size);
    const Extent network = trail.find(header);
    const Extent icrc = trail.find(Header::Icrc);
    // No specification says what the ICRC covers with IPv4 options or IPv6 extension headers.
    if (icrc.of(frame).size() != icrc_size || network.size() != size)
        return std::nullopt;
    return compute_icrc(layout, Extent{network.begin, icrc.begin}.of(frame));
}

std::optional<std::uint16_t> right_udp_checksum(util::Bytes frame, const Trail& trail) {
    constexpr std::uint16_t zero_as_sent = 0xffff;  // 0 means "no checksum"
    const util::Bytes header = trail.find(Header::Udp).of(frame);
    if (header.size() < Udp::size)
        return std::nullopt;
    const Udp udp = parse<Udp>(header.first<Udp::size>());
    const util::Bytes rest = frame.subspan(trail.find(Header::Udp).begin);
    if (udp.length < Udp::size || rest.size() < udp.length)
        return std::nullopt;
    // Pseudo-header: addresses, protocol and length (RFC 768; RFC 8200, 8.1).
    const std::uint64_t pseudo_header =
        ones_sum(ip_addresses(trail.ip().of(frame))) + ip_protocol::udp + udp.length;
    const std::uint16_t checksum =
        internet_checksum(pseudo_header + ones_sum(rest.first(udp.length)) - udp.checksum);
    return checksum == 0 ? zero_as_sent : checksum;
}

void reseal(std::span<std::byte> frame, const Trail& trail, IcrcAfter icrc) {
    if (const MutableBytes ip = trail.find(Header::Ipv4).of(frame); !ip.empty())
        put16(ip, ip_checksum_at, right_ip_checksum(ip));
    if (icrc == IcrcAfter::Good)
        if (const auto value = right_icrc(frame, trail))
            util::put_be32<0>(trail.find(Header::Icrc).of(frame).first<icrc_size>(), *value);
    // Last: it covers the ICRC.
    const MutableBytes udp = trail.find(Header::Udp).of(frame);
    if (const auto value = right_udp_checksum(frame, trail);
        value && at16(udp, udp_checksum_at) != 0)
        put16(udp, udp_checksum_at, *value);
}

}  // namespace wire

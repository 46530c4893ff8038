// Checksums and the ICRC. The difference between a wrong value and the right one is a checksum of the
// original bytes, from which addresses can be computed. So it stays only where it is known to
// depend on other fields alone.
#include <optional>
#include <tuple>

#include "anonymize/subject.hpp"
#include "wire/icrc_hint.hpp"
#include "wire/reseal.hpp"

namespace anonymize {
namespace {

using wire::Header;
using wire::IcrcHint;

constexpr std::size_t ip_checksum_at = wire::place_of<&wire::Ipv4::checksum>.bit / 8;
constexpr std::size_t udp_checksum_at = wire::place_of<&wire::Udp::checksum>.bit / 8;
constexpr std::size_t icmp_checksum_at = 2;

// The checksum in place of `old`. nullopt: it cannot be computed, because bytes are missing.
std::uint16_t checksum_after(std::uint16_t old, std::optional<std::uint16_t> right_before,
                             std::optional<std::uint16_t> right) {
    constexpr std::uint16_t wrong = 0x5555;
    if (!right_before || !right)
        return 0;
    if (old == *right_before)
        return *right;
    return old == 0 ? 0 : static_cast<std::uint16_t>(*right ^ wrong);
}

void put_checksum(MutableBytes header, std::size_t at, std::optional<std::uint16_t> right_before,
                  std::optional<std::uint16_t> right) {
    const auto field = header.subspan(at).first<2>();
    util::put_be16<0>(
        field, checksum_after(util::be16<0>(util::FixedBytes<2>(field)), right_before, right));
}

void seal_ip(const Subject& subject) {
    const MutableBytes ip = subject.part(Header::Ipv4);
    const util::Bytes before = subject.packet.trail.find(Header::Ipv4).of(subject.before);
    // It is whole: what follows it was decoded.
    if (!ip.empty())
        put_checksum(ip, ip_checksum_at, wire::right_ip_checksum(before),
                     wire::right_ip_checksum(ip));
}

void seal_udp(const Subject& subject) {
    const MutableBytes udp = subject.part(Header::Udp);
    if (udp.size() >= wire::Udp::size)
        put_checksum(udp, udp_checksum_at,
                     wire::right_udp_checksum(subject.before, subject.packet.trail),
                     wire::right_udp_checksum(subject.frame, subject.packet.trail));
}

// The ICRC of the frame with another value in one of its fields.
template <typename Header, auto Member>
std::optional<std::uint32_t> icrc_with(const Subject& subject, const auto& value) {
    auto other = value;
    const auto exchange = [&](Header& header) { std::swap(header.*Member, other); };
    subject.change<Header>(exchange);
    const auto icrc = wire::right_icrc(subject.frame, subject.packet.trail);
    subject.change<Header>(exchange);
    return icrc;
}

std::optional<std::uint32_t> icrc_with_address(const Subject& subject, const IcrcHint& hint) {
    const bool is_source = hint.kind == IcrcHint::Kind::SourceAddress;
    if (const auto* ipv4 = std::get_if<wire::Ipv4Address>(&hint.address)) {
        const auto address = subject.pseudonyms.of(*ipv4);
        return is_source ? icrc_with<wire::Ipv4, &wire::Ipv4::src>(subject, address)
                         : icrc_with<wire::Ipv4, &wire::Ipv4::dst>(subject, address);
    }
    const auto* ipv6 = std::get_if<wire::Ipv6Address>(&hint.address);
    if (ipv6 == nullptr)
        return std::nullopt;
    const auto address = subject.pseudonyms.of(*ipv6);
    return is_source ? icrc_with<wire::Ipv6, &wire::Ipv6::src>(subject, address)
                     : icrc_with<wire::Ipv6, &wire::Ipv6::dst>(subject, address);
}

// Fields that are unmasked by mistake and do not change here: the difference depends on them alone.
bool keeps_difference(const IcrcHint& hint, const wire::Packet& packet) {
    constexpr unsigned ip_checksum = 1U << 2;
    constexpr unsigned udp_checksum = 1U << 3;
    if (hint.kind == IcrcHint::Kind::SourcePort)
        return true;
    return hint.kind == IcrcHint::Kind::Unmasked &&
           (packet.ipv6 || (hint.fields & ip_checksum) == 0) &&
           (packet.udp->checksum == 0 || (hint.fields & udp_checksum) == 0);
}

// The ICRC of a sender that leaves out the last bytes before it.
std::optional<std::uint32_t> icrc_without(const Subject& subject, std::uint32_t count) {
    wire::Trail trail = subject.packet.trail;
    const std::uint32_t end = trail.find(Header::Icrc).begin - count;
    trail.put(Header::Padding, end);
    trail.put(Header::Icrc, end + wire::icrc_size);
    return wire::right_icrc(subject.frame, trail);
}

// Writes the ICRC `count` bytes before its place, and returns what is then in its place.
std::uint32_t put_early_icrc(const Subject& subject, std::uint32_t icrc, std::uint32_t count) {
    const std::size_t place = subject.packet.trail.find(Header::Icrc).begin;
    util::put_be32<0>(subject.frame.subspan(place - count).first<wire::icrc_size>(), icrc);
    return icrc << 8 * count;
}

// The same mistake again. nullopt: with an unknown cause, or one that depends on other checksums.
std::optional<std::uint32_t> same_mistake(const Subject& subject, std::uint32_t right) {
    const wire::Icrc& icrc = *subject.packet.icrc;
    if (icrc.hint == nullptr)
        return std::nullopt;
    const IcrcHint& hint = *icrc.hint;
    switch (hint.kind) {
        case IcrcHint::Kind::Early:
            if (const auto early = icrc_without(subject, hint.count))
                return put_early_icrc(subject, *early, hint.count);
            return std::nullopt;
        case IcrcHint::Kind::WithoutEnd:
            return icrc_without(subject, hint.count);
        case IcrcHint::Kind::SourceAddress:
        case IcrcHint::Kind::DestinationAddress:
            return icrc_with_address(subject, hint);
        case IcrcHint::Kind::HeadersTwice: {
            const wire::Trail& trail = subject.packet.trail;
            const std::size_t begin = trail.find(Header::Bth).begin;
            return wire::icrc_with_headers_twice(
                right, subject.frame.subspan(begin, trail.find(Header::Icrc).begin - begin));
        }
        case IcrcHint::Kind::Unmasked:
        case IcrcHint::Kind::SourcePort:
            break;
    }
    return keeps_difference(hint, subject.packet)
               ? std::optional(right ^ *icrc.value ^ *icrc.computed)
               : std::nullopt;
}

// `right`: of the frame as it is now.
std::uint32_t wrong_icrc(const Subject& subject, std::uint32_t right) {
    const wire::Icrc& icrc = *subject.packet.icrc;
    if (const auto same = same_mistake(subject, right))
        return *same;
    if (*icrc.value == 0 && right != 0)
        return 0;
    const auto difference =
        static_cast<std::uint32_t>(subject.pseudonyms.hash(*icrc.value ^ *icrc.computed, {}));
    return right ^ (difference == 0 ? 1U : difference);
}

void seal_icrc(const Subject& subject) {
    const MutableBytes bytes = subject.part(Header::Icrc);
    const auto& icrc = subject.packet.icrc;
    const auto right = wire::right_icrc(subject.frame, subject.packet.trail);
    if (!icrc || !icrc->computed || !right)
        return zero(bytes);
    util::put_be32<0>(bytes.first<wire::icrc_size>(), icrc->status == wire::IcrcStatus::Good
                                                          ? *right
                                                          : wrong_icrc(subject, *right));
}

// Of an ICMP message with its pseudo-header (RFC 792; RFC 4443, 2.3).
std::optional<std::uint16_t> icmp_checksum(const Subject& subject, util::Bytes frame) {
    const wire::Extent extent = subject.packet.trail.find(Header::Rest);
    const util::Bytes message = extent.of(frame);
    if (message.size() != extent.size())
        return std::nullopt;
    std::uint64_t sum =
        wire::ones_sum(message) - util::be16<0>(message.subspan(icmp_checksum_at).first<2>());
    if (subject.packet.ipv6)
        sum += wire::ones_sum(wire::ip_addresses(subject.packet.trail.ip().of(frame))) +
               wire::ip_protocol::icmp_v6 + message.size();
    return wire::internet_checksum(sum);
}

}  // namespace

void seal(const Subject& subject) {
    seal_ip(subject);
    seal_icrc(subject);
    seal_udp(subject);  // last: it covers the ICRC
}

void seal_icmp(const Subject& subject) {
    put_checksum(subject.part(Header::Rest), icmp_checksum_at,
                 icmp_checksum(subject, subject.before), icmp_checksum(subject, subject.frame));
}

}  // namespace anonymize

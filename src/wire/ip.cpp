#include "wire/ip.hpp"

#include "util/names.hpp"

namespace wire {

Ipv4 Ipv4::parse(util::FixedBytes<size> bytes) {
    const std::uint8_t first = util::be8<0>(bytes);
    const std::uint16_t fragment = util::be16<6>(bytes);
    return {
        .version = static_cast<std::uint8_t>(first >> 4),
        .header_length = static_cast<std::uint8_t>((first & 0xfU) * 4),
        .dsfield = util::be8<1>(bytes),
        .total_length = util::be16<2>(bytes),
        .id = util::be16<4>(bytes),
        .df = (fragment & 0x4000U) != 0,
        .mf = (fragment & 0x2000U) != 0,
        .fragment_offset = static_cast<std::uint16_t>((fragment & 0x1fffU) * 8),
        .ttl = util::be8<8>(bytes),
        .protocol = util::be8<9>(bytes),
        .checksum = util::be16<10>(bytes),
        .src = Ipv4Address::at<12>(bytes),
        .dst = Ipv4Address::at<16>(bytes),
    };
}

void Ipv4::write(std::span<std::byte, size> out) const {
    const unsigned first = (version & 0xfU) << 4 | (header_length / 4U & 0xfU);
    const unsigned fragment =
        (df ? 0x4000U : 0U) | (mf ? 0x2000U : 0U) | (fragment_offset / 8U & 0x1fffU);
    util::put_be8<0>(out, static_cast<std::uint8_t>(first));
    util::put_be8<1>(out, dsfield);
    util::put_be16<2>(out, total_length);
    util::put_be16<4>(out, id);
    util::put_be16<6>(out, static_cast<std::uint16_t>(fragment));
    util::put_be8<8>(out, ttl);
    util::put_be8<9>(out, protocol);
    util::put_be16<10>(out, checksum);
    src.put<12>(out);
    dst.put<16>(out);
}

Ipv6 Ipv6::parse(util::FixedBytes<size> bytes) {
    const std::uint32_t first = util::be32<0>(bytes);
    return {
        .version = static_cast<std::uint8_t>(first >> 28),
        .tclass = static_cast<std::uint8_t>(first >> 20 & 0xffU),
        .flow_label = first & 0xfffffU,
        .payload_length = util::be16<4>(bytes),
        .next_header = util::be8<6>(bytes),
        .hop_limit = util::be8<7>(bytes),
        .src = Ipv6Address::at<8>(bytes),
        .dst = Ipv6Address::at<24>(bytes),
    };
}

void Ipv6::write(std::span<std::byte, size> out) const {
    util::put_be32<0>(
        out, (version & 0xfU) << 28 | std::uint32_t{tclass} << 20 | (flow_label & 0xfffffU));
    util::put_be16<4>(out, payload_length);
    util::put_be8<6>(out, next_header);
    util::put_be8<7>(out, hop_limit);
    src.put<8>(out);
    dst.put<24>(out);
}

std::uint64_t ones_sum(util::Bytes bytes) {
    std::uint64_t sum = 0;
    util::Cursor cursor(bytes);
    while (const auto word = cursor.take<2>())
        sum += util::be16<0>(*word);
    if (const auto last = cursor.take<1>())
        sum += std::uint64_t{util::be8<0>(*last)} << 8;
    return sum;
}

std::uint16_t internet_checksum(std::uint64_t sum) {
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

Grh Grh::parse(util::FixedBytes<size> bytes) {
    const Ipv6 same_layout = Ipv6::parse(bytes);
    return {
        .ipver = same_layout.version,
        .tclass = same_layout.tclass,
        .flowlabel = same_layout.flow_label,
        .paylen = same_layout.payload_length,
        .nxthdr = same_layout.next_header,
        .hoplmt = same_layout.hop_limit,
        .sgid = same_layout.src,
        .dgid = same_layout.dst,
    };
}

void Grh::write(std::span<std::byte, size> out) const {
    const Ipv6 same_layout{
        .version = ipver,
        .tclass = tclass,
        .flow_label = flowlabel,
        .payload_length = paylen,
        .next_header = nxthdr,
        .hop_limit = hoplmt,
        .src = sgid,
        .dst = dgid,
    };
    same_layout.write(out);
}

Udp Udp::parse(util::FixedBytes<size> bytes) {
    return {
        .src_port = util::be16<0>(bytes),
        .dst_port = util::be16<2>(bytes),
        .length = util::be16<4>(bytes),
        .checksum = util::be16<6>(bytes),
    };
}

void Udp::write(std::span<std::byte, size> out) const {
    util::put_be16<0>(out, src_port);
    util::put_be16<2>(out, dst_port);
    util::put_be16<4>(out, length);
    util::put_be16<6>(out, checksum);
}

std::string_view undecoded_tunnel(std::uint16_t port) {
    static constexpr auto names = std::to_array<util::Named<std::uint16_t>>({
        {4500, "ESP in UDP"},
        {4754, "GRE in UDP"},
        {4790, "VXLAN-GPE"},
        {6635, "MPLS in UDP"},
    });
    return util::name_in(names, port);
}

}  // namespace wire

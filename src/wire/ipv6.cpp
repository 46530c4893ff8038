#include "wire/ipv6.hpp"

namespace wire {

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

}  // namespace wire

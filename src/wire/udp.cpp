#include "wire/udp.hpp"

namespace wire {

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
    switch (port) {
        case 4500:
            return "ESP in UDP";
        case 4754:
            return "GRE in UDP";
        case 4790:
            return "VXLAN-GPE";
        case 6635:
            return "MPLS in UDP";
        default:
            return "";
    }
}

}  // namespace wire

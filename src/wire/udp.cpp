#include "wire/udp.hpp"

#include "util/names.hpp"

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
    static constexpr auto names = std::to_array<util::Named<std::uint16_t>>({
        {4500, "ESP in UDP"},
        {4754, "GRE in UDP"},
        {4790, "VXLAN-GPE"},
        {6635, "MPLS in UDP"},
    });
    return util::name_in(names, port);
}

}  // namespace wire

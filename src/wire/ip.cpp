#include "wire/ip.hpp"

#include "util/names.hpp"

namespace wire {

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

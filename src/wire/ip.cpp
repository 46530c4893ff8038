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

util::Bytes ip_addresses(util::Bytes ip) {
    if (ip.empty())
        return ip;
    return (ip.front() >> 4) == std::byte{4}
               ? ip.subspan(place_of<&Ipv4::src>.bit / 8, 2 * Ipv4Address::size)
               : ip.subspan(place_of<&Ipv6::src>.bit / 8, 2 * Ipv6Address::size);
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

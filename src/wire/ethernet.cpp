#include "wire/ethernet.hpp"

#include "util/names.hpp"

namespace wire {

Ethernet Ethernet::parse(util::FixedBytes<size> bytes) {
    return {
        .dst = MacAddress::at<0>(bytes),
        .src = MacAddress::at<6>(bytes),
        .type = util::be16<12>(bytes),
    };
}

void Ethernet::write(std::span<std::byte, size> out) const {
    dst.put<0>(out);
    src.put<6>(out);
    util::put_be16<12>(out, type);
}

Vlan Vlan::parse(util::FixedBytes<size> bytes) {
    const std::uint16_t tci = util::be16<0>(bytes);
    return {
        .priority = static_cast<std::uint8_t>(tci >> 13),
        .dei = (tci & 0x1000U) != 0,
        .id = static_cast<std::uint16_t>(tci & 0xfffU),
        .type = util::be16<2>(bytes),
    };
}

void Vlan::write(std::span<std::byte, size> out) const {
    const unsigned tci = (priority & 7U) << 13 | (dei ? 0x1000U : 0U) | (id & 0xfffU);
    util::put_be16<0>(out, static_cast<std::uint16_t>(tci));
    util::put_be16<2>(out, type);
}

std::string_view undecoded_encapsulation(std::uint16_t type) {
    static constexpr auto names = std::to_array<util::Named<std::uint16_t>>({
        {0x22f3, "TRILL"},
        {0x8903, "FabricPath"},
        {0x8926, "VN-Tag"},
        {0x88e5, "MACsec"},
        {0x88e7, "PBB"},
        {0x893f, "802.1BR"},
        {0x8949, "switch mirror"},
        {0x894f, "NSH"},
    });
    return util::name_in(names, type);
}

LinuxCooked LinuxCooked::parse(util::FixedBytes<size> bytes) {
    return {
        .version = 1,
        .protocol = util::be16<14>(bytes),
        .ifindex = 0,
        .arphrd = util::be16<2>(bytes),
        .packet_type = static_cast<std::uint8_t>(util::be16<0>(bytes)),
        .address_length = static_cast<std::uint8_t>(util::be16<4>(bytes)),
        .address = CookedAddress::at<6>(bytes),
    };
}

LinuxCooked LinuxCooked::parse2(util::FixedBytes<size2> bytes) {
    return {
        .version = 2,
        .protocol = util::be16<0>(bytes),
        .ifindex = util::be32<4>(bytes),
        .arphrd = util::be16<8>(bytes),
        .packet_type = util::be8<10>(bytes),
        .address_length = util::be8<11>(bytes),
        .address = CookedAddress::at<12>(bytes),
    };
}

}  // namespace wire

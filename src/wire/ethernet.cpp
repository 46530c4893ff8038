#include "wire/ethernet.hpp"

#include "util/names.hpp"

namespace wire {

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

#include "wire/infiniband.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "util/append.hpp"
#include "wire/address.hpp"

namespace wire {
namespace {

// The polynomial 0x100b, with its bits in the order in which they are sent: lowest bit first.
constexpr unsigned vcrc_polynomial = 0xd008;

constexpr auto vcrc_table = [] {
    std::array<std::uint16_t, 256> table{};
    for (unsigned byte = 0; byte < table.size(); ++byte) {
        unsigned crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = crc >> 1 ^ ((crc & 1U) != 0 ? vcrc_polynomial : 0U);
        table[byte] = static_cast<std::uint16_t>(crc);
    }
    return table;
}();

}  // namespace

std::string lid_text(std::uint16_t lid) {
    std::array<char, longest_address> text;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    return {text.data(), put_lid(text.data(), lid)};
}

char* put_lid(char* at, std::uint16_t lid) {
    constexpr std::string_view prefix = "LID ";
    return util::put_decimal(std::ranges::copy(prefix, at).out, lid);
}

IcrcStatus Vcrc::status() const {
    if (!computed)
        return IcrcStatus::Unchecked;
    return *computed == value ? IcrcStatus::Good : IcrcStatus::Bad;
}

std::uint16_t compute_vcrc(util::Bytes packet) {
    unsigned crc = 0xffff;
    for (const std::byte byte : packet)
        crc = crc >> 8 ^ vcrc_table[(crc ^ std::to_integer<unsigned>(byte)) & 0xffU];
    // The CRC is sent lowest byte first; the result is those bytes read highest byte first.
    return __builtin_bswap16(static_cast<std::uint16_t>(~crc));
}

}  // namespace wire

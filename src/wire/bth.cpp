#include "wire/bth.hpp"

namespace wire {

Bth Bth::parse(util::FixedBytes<size> bytes) {
    const std::uint8_t flags = util::be8<1>(bytes);
    const std::uint8_t congestion = util::be8<4>(bytes);
    const std::uint8_t ack = util::be8<8>(bytes);
    return {
        .opcode = util::be8<0>(bytes),
        .se = (flags & 0x80U) != 0,
        .m = (flags & 0x40U) != 0,
        .padcnt = static_cast<std::uint8_t>(flags >> 4 & 3U),
        .tver = static_cast<std::uint8_t>(flags & 0xfU),
        .p_key = util::be16<2>(bytes),
        .fecn = (congestion & 0x80U) != 0,
        .becn = (congestion & 0x40U) != 0,
        .reserved6 = static_cast<std::uint8_t>(congestion & 0x3fU),
        .dest_qpn = util::be24<5>(bytes),
        .a = (ack & 0x80U) != 0,
        .reserved7 = static_cast<std::uint8_t>(ack & 0x7fU),
        .psn = Psn(util::be24<9>(bytes)),
    };
}

void Bth::write(std::span<std::byte, size> out) const {
    const unsigned flags =
        (se ? 0x80U : 0U) | (m ? 0x40U : 0U) | (padcnt & 3U) << 4 | (tver & 0xfU);
    const unsigned congestion = (fecn ? 0x80U : 0U) | (becn ? 0x40U : 0U) | (reserved6 & 0x3fU);
    const unsigned ack = (a ? 0x80U : 0U) | (reserved7 & 0x7fU);
    util::put_be8<0>(out, opcode);
    util::put_be8<1>(out, static_cast<std::uint8_t>(flags));
    util::put_be16<2>(out, p_key);
    util::put_be8<4>(out, static_cast<std::uint8_t>(congestion));
    util::put_be24<5>(out, dest_qpn);
    util::put_be8<8>(out, static_cast<std::uint8_t>(ack));
    util::put_be24<9>(out, psn.value());
}

}  // namespace wire

#include "wire/feth.hpp"

namespace wire {

std::string_view Feth::sel_name() const {
    switch (sel) {
        case 0:
            return "memory range";
        case 1:
            return "whole memory region";
        default:
            return "reserved";
    }
}

Feth Feth::parse(util::FixedBytes<size> bytes) {
    const std::uint8_t fields = util::be8<3>(bytes);
    return {
        .plt = static_cast<std::uint8_t>(fields & 0xfU),
        .sel = static_cast<std::uint8_t>(fields >> 4 & 3U),
    };
}

void Feth::write(std::span<std::byte, size> out) const {
    util::put_be24<0>(out, 0);
    util::put_be8<3>(out, static_cast<std::uint8_t>((sel & 3U) << 4 | (plt & 0xfU)));
}

}  // namespace wire

// Lesson 15, both sides: the header of each message, in network byte order:
//
//     offset  0   4 bytes   sequence number, from 1
//             4   4         length of the body in bytes
//             8   4         CRC-32 of the body
//            12   4         0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "util/cursor.hpp"

namespace lesson15 {

struct Header {
    static constexpr std::size_t size = 16;

    std::uint32_t sequence = 0;
    std::uint32_t length = 0;
    std::uint32_t crc = 0;

    std::array<std::byte, size> serialize() const {
        std::array<std::byte, size> bytes{};
        const std::span<std::byte, size> out(bytes);
        util::put_be32<0>(out, sequence);
        util::put_be32<4>(out, length);
        util::put_be32<8>(out, crc);
        return bytes;
    }

    static Header parse(util::FixedBytes<size> in) {
        return {
            .sequence = util::be32<0>(in), .length = util::be32<4>(in), .crc = util::be32<8>(in)};
    }
};

}  // namespace lesson15

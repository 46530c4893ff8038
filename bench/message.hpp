// How a synthetic message is split into packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/cursor.hpp"

namespace bench {

constexpr std::size_t path_mtu = 256;

constexpr std::uint32_t packets_of(std::size_t length) {
    return static_cast<std::uint32_t>((length + path_mtu - 1) / path_mtu);
}

/// The opcode of the packet at `offset` in a message of `length` bytes.
constexpr std::uint8_t opcode_at(std::size_t offset, std::size_t length, std::uint8_t first,
                                 std::uint8_t middle, std::uint8_t last, std::uint8_t only) {
    const bool begins = offset == 0;
    const bool ends = offset + path_mtu >= length;
    if (begins)
        return ends ? only : first;
    return ends ? last : middle;
}

/// At most `path_mtu` bytes.
inline util::Bytes payload_bytes(std::size_t size) {
    static const std::vector<std::byte> bytes = [] {
        std::vector<std::byte> made(path_mtu);
        for (std::size_t i = 0; i < made.size(); ++i)
            made[i] = static_cast<std::byte>(i * 7 + 3);
        return made;
    }();
    return util::Bytes(bytes).first(size);
}

}  // namespace bench

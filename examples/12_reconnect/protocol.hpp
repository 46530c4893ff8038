// Lesson 12, both sides: a message, and the two words of the server's memory that a client reads
// after reconnecting. In network byte order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "util/cursor.hpp"

namespace lesson12 {

/// The payload of a SEND.
struct Message {
    static constexpr std::size_t size = 16;

    std::uint64_t sequence = 0;  // from 1, across all connections
    std::uint64_t amount = 0;

    std::array<std::byte, size> serialize() const {
        std::array<std::byte, size> bytes{};
        util::put_be64<0>(std::span<std::byte, size>(bytes), sequence);
        util::put_be64<8>(std::span<std::byte, size>(bytes), amount);
        return bytes;
    }
    static Message parse(util::FixedBytes<size> in) {
        return {.sequence = util::be64<0>(in), .amount = util::be64<8>(in)};
    }
};

/// What the server has applied: the last message's number and the sum of all amounts. It outlives
/// the connections. The layout is that of a Message.
using Applied = Message;

}  // namespace lesson12

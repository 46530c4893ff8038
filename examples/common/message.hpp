// The first bytes of each message that a step's two programs send each other over the connection of
// the exchange, or as rdma_cm's private data. What follows them is the step's own.
//
//     offset  0   2 bytes   "RW"
//             2   2         the step's number, two digits
//             4   1         version, 1
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/channel.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace common {

inline constexpr std::uint8_t message_version = 1;

/// Another one for each step: tests/lint/verbs holds the number to the step's folder.
consteval std::uint32_t magic_of_step(unsigned step) {
    return std::uint32_t{'R'} << 24 | std::uint32_t{'W'} << 16 | ('0' + step / 10 % 10) << 8 |
           ('0' + step % 10);
}

/// N zeros after a magic and the version.
template <std::size_t N>
std::array<std::byte, N> begin_message(std::uint32_t magic) {
    std::array<std::byte, N> bytes{};
    util::put_be32<0>(std::span<std::byte, N>(bytes), magic);
    util::put_be8<4>(std::span<std::byte, N>(bytes), message_version);
    return bytes;
}

/// Throws util::Error where it begins in another way.
template <std::size_t N>
void check_message(util::FixedBytes<N> in, std::uint32_t magic) {
    if (util::be32<0>(in) != magic || util::be8<4>(in) != message_version)
        throw util::Error(
            "the peer sent an unknown message: are client and server of the same step, and built "
            "from the same sources?");
}

/// Waits until `limit` for a whole message. Throws util::Error where none comes, or another one.
template <std::size_t N>
std::array<std::byte, N> receive_message(net::Channel& channel, std::uint32_t magic,
                                         const net::TimeLimit& limit) {
    std::array<std::byte, N> bytes{};
    channel.receive(bytes, limit);
    check_message(util::FixedBytes<N>(bytes), magic);
    return bytes;
}

}  // namespace common

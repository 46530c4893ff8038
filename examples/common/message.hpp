// The header of each message that a lesson's programs exchange over the exchange connection or as
// rdma_cm private data. The lesson defines the rest.
//
//     offset  0   2 bytes   "RW"
//             2   2         the lesson's number, two digits
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

/// The magic of a lesson; tests/lint/verbs checks that the number matches the lesson's folder.
consteval std::uint32_t magic_of_lesson(unsigned lesson) {
    return std::uint32_t{'R'} << 24 | std::uint32_t{'W'} << 16 | ('0' + lesson / 10 % 10) << 8 |
           ('0' + lesson % 10);
}

/// Returns N bytes: magic, version, and zeros.
template <std::size_t N>
std::array<std::byte, N> begin_message(std::uint32_t magic) {
    std::array<std::byte, N> bytes{};
    util::put_be32<0>(std::span<std::byte, N>(bytes), magic);
    util::put_be8<4>(std::span<std::byte, N>(bytes), message_version);
    return bytes;
}

/// Throws util::Error if the message has another magic or version.
template <std::size_t N>
void check_message(util::FixedBytes<N> in, std::uint32_t magic) {
    if (util::be32<0>(in) != magic || util::be8<4>(in) != message_version)
        throw util::Error(
            "the peer sent an unknown message: are client and server of the same lesson, and built "
            "from the same sources?");
}

/// Waits until `limit` for a complete message. Throws util::Error if it is missing or invalid.
template <std::size_t N>
std::array<std::byte, N> receive_message(net::Channel& channel, std::uint32_t magic,
                                         const net::TimeLimit& limit) {
    std::array<std::byte, N> bytes{};
    channel.receive(bytes, limit);
    check_message(util::FixedBytes<N>(bytes), magic);
    return bytes;
}

}  // namespace common

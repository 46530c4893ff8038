// The first bytes of what a step's two programs say to each other over the connection of the
// exchange: four that name the step ("RWL" and a letter), and a version, in network byte order.
// What stands behind them is the step's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "util/cursor.hpp"
#include "util/error.hpp"

namespace common {

inline constexpr std::uint8_t words_version = 1;

/// N zeros behind a magic and its version.
template <std::size_t N>
std::array<std::byte, N> begin_words(std::uint32_t magic) {
    std::array<std::byte, N> bytes{};
    util::put_be32<0>(std::span<std::byte, N>(bytes), magic);
    util::put_be8<4>(std::span<std::byte, N>(bytes), words_version);
    return bytes;
}

/// Throws util::Error where it is another's; `step`: "step 14".
template <std::size_t N>
void check_words(util::FixedBytes<N> in, std::uint32_t magic, std::string_view step) {
    if (util::be32<0>(in) != magic || util::be8<4>(in) != words_version)
        throw util::Error("the peer says what this program does not know. Is it " +
                          std::string(step) + "'s?");
}

}  // namespace common

// The ways in which lesson 04's client is refused. The client's connection request names one, and the
// server prepares its memory for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lesson04 {

enum class Refusal : std::uint8_t { WrongKey, OutOfBounds, MissingRight, Deregistered };

inline constexpr std::array refusals{Refusal::WrongKey, Refusal::OutOfBounds, Refusal::MissingRight,
                                     Refusal::Deregistered};

constexpr std::string_view text(Refusal refusal) {
    constexpr std::array<std::string_view, 4> texts{
        "a wrong rkey", "right rkey, last byte out of bounds", "memory that allows only READ",
        "memory that was deregistered"};
    return texts[static_cast<std::size_t>(refusal)];
}

}  // namespace lesson04

// What both programs of lesson 03 agree on: the exposed memory is an array of slots, and the
// immediate data of a WRITE is the number of the slot that it filled.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lesson03 {

inline constexpr std::size_t slot_size = std::size_t{16} * 1024;
inline constexpr std::uint32_t slots = 8;

}  // namespace lesson03

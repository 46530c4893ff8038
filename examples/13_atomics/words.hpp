// Lesson 13, both sides: the memory that all clients share, and the two keys that grant access to it.
#pragma once

#include <cstdint>

namespace lesson13 {

/// An atomic works on 8 bytes at an address that is a multiple of 8; there is no other size.
struct Words {
    alignas(8) std::uint64_t counter = 0;
    std::uint64_t maximum = 0;
};

/// The same memory is registered twice. A client selects one of the keys in its connection request.
enum class Key : std::uint8_t { WithAtomics, WithoutAtomics };

}  // namespace lesson13

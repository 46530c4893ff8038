// Step 11, both sides: the memory that all clients share, and by which of two keys to it a client is
// let in.
#pragma once

#include <cstdint>

namespace step11 {

/// An atomic works on 8 bytes, at an address that is a multiple of 8: there is no other size.
struct Words {
    alignas(8) std::uint64_t counter = 0;
    std::uint64_t maximum = 0;
};

/// The same memory, registered twice. A client names one of the keys in its connection request.
enum class Key : std::uint8_t { WithAtomics, WithoutAtomics };

}  // namespace step11

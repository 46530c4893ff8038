// Step 07, both sides: a starting PSN that nobody can guess.
#pragma once

#include <array>
#include <cstdint>

#include <openssl/rand.h>

#include "util/error.hpp"

namespace step07 {

/// 24 bits from OpenSSL's cryptographically secure generator, host byte order. Throws util::Error
/// when the generator has no entropy: a PSN that can be guessed is never used instead.
inline std::uint32_t random_psn() {
    std::array<unsigned char, 3> bytes{};
    if (RAND_bytes(bytes.data(), bytes.size()) != 1)
        throw util::Error("OpenSSL's random number generator has no entropy: no PSN was chosen.");
    return std::uint32_t{bytes[0]} << 16U | std::uint32_t{bytes[1]} << 8U | bytes[2];
}

}  // namespace step07

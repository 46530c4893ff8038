// Lesson 07, both sides: an unpredictable first PSN.
#pragma once

#include <array>
#include <cstdint>

#include <openssl/rand.h>

#include "util/error.hpp"

namespace lesson07 {

/// Returns 24 bits from OpenSSL's cryptographically secure generator, in host byte order. Throws
/// util::Error if the generator has no entropy, instead of using a predictable PSN.
inline std::uint32_t random_psn() {
    std::array<unsigned char, 3> bytes{};
    if (RAND_bytes(bytes.data(), bytes.size()) != 1)
        throw util::Error("OpenSSL's random number generator has no entropy: no PSN was chosen.");
    return std::uint32_t{bytes[0]} << 16U | std::uint32_t{bytes[1]} << 8U | bytes[2];
}

}  // namespace lesson07

#include "exchange/psn_source.hpp"

#include <array>

#include <openssl/rand.h>

#include "util/error.hpp"

namespace exchange {

std::uint32_t random_psn() {
    std::array<unsigned char, 3> bytes{};
    if (RAND_bytes(bytes.data(), bytes.size()) != 1)
        throw util::Error("OpenSSL's random number generator has no entropy: no PSN was chosen.");
    return std::uint32_t{bytes[0]} << 16 | std::uint32_t{bytes[1]} << 8 | bytes[2];
}

}  // namespace exchange

// Where a connection's first PSN comes from when nobody is to guess it.
#pragma once

#include <cstdint>

namespace exchange {

/// 24 bits of OpenSSL's CSPRNG (RAND_bytes(3)), host byte order. Throws util::Error where it has no
/// entropy: a guessable PSN is never handed out instead.
std::uint32_t random_psn();

}  // namespace exchange

// Syndromes of the AETHs in synthetic traffic.
#pragma once

#include <cstdint>

namespace bench {

inline constexpr std::uint8_t ack_syndrome = 0x1f;        // ACK, no limit on messages (no credits)
inline constexpr std::uint8_t rnr_syndrome = 0x2c;        // RNR NAK, timer code 12
inline constexpr std::uint8_t psn_error_syndrome = 0x60;  // NAK, PSN sequence error

}  // namespace bench

// The Internet checksum (RFC 1071), for IPv4 headers and UDP.
#pragma once

#include <cstdint>

#include "util/cursor.hpp"

namespace wire {

/// The sum of the 16-bit big-endian words of `bytes`; a last odd byte counts as a word's upper
/// half. Sums may be added to each other before internet_checksum folds them.
std::uint64_t ones_sum(util::Bytes bytes);

/// The checksum of everything that was summed.
std::uint16_t internet_checksum(std::uint64_t sum);

}  // namespace wire

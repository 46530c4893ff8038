// Bytes worth sending, and what a log says of bytes that arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runlog/event.hpp"

namespace common {

/// `size` bytes that say `text` again and again: easy to spot in a packet's payload. An empty text
/// gives zeros.
std::vector<std::byte> pattern(std::size_t size, std::string_view text);

/// `size` bytes of which no two pieces are alike, the same each time: what comes to the wrong place
/// is seen.
std::vector<std::byte> unlike_bytes(std::size_t size);

/// CRC-32, ISO-HDLC, as zlib's.
std::uint32_t crc_of(std::span<const std::byte> bytes);

/// A run log "memory" event: address, length, CRC-32 (ISO-HDLC, as zlib's) and the first bytes,
/// unprintable ones as '.'.
runlog::Fields describe_memory(std::span<const std::byte> memory);

}  // namespace common

// Test data, and log fields that describe received data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runlog/event.hpp"

namespace common {

/// Returns `size` bytes that repeat `text`, which is easy to spot in a packet's payload. An empty
/// text gives zeros.
std::vector<std::byte> pattern(std::size_t size, std::string_view text);

/// Returns `size` bytes without repeating blocks, the same on each call, so that misplaced data is
/// detected.
std::vector<std::byte> unlike_bytes(std::size_t size);

/// CRC-32 (ISO-HDLC, as in zlib).
std::uint32_t crc_of(std::span<const std::byte> bytes);

/// Fields of a run log "memory" event: address, length, CRC-32 (ISO-HDLC, as in zlib) and the first
/// bytes, unprintable ones as '.'.
runlog::Fields describe_memory(std::span<const std::byte> memory);

/// The same as text: "0x7f393f03d010: 10000 of 1048576 B in use, CRC-32 0x991cf230, "Hello…"".
std::string memory_text(std::span<const std::byte> memory);

}  // namespace common

// Bytes worth sending, and what a log says of bytes that arrived.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "runlog/event.hpp"

namespace lesson {

/// `size` bytes that say `text` again and again: easy to spot in a packet's payload. An empty text
/// gives zeros.
std::vector<std::byte> pattern(std::size_t size, std::string_view text);

/// A run log "memory" event: address, length, CRC-32 (ISO-HDLC, as zlib's) and the first bytes,
/// unprintable ones as '.'.
runlog::Fields describe_memory(std::span<const std::byte> memory);

}  // namespace lesson

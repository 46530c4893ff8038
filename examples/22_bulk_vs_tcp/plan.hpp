// A transfer of any size through a buffer of fixed size: chunks fill its places in turn,
// repeatedly. Both sides know the plan, and so the expected contents of the memory at the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <libdeflate.h>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "util/error.hpp"

namespace lesson22 {

struct Plan {
    std::uint64_t size = 0;    // bytes in all
    std::uint64_t chunk = 0;   // bytes per WRITE or send(2)
    std::uint64_t buffer = 0;  // bytes of memory on each side; a multiple of the chunk

    /// Throws util::Error if the sizes are inconsistent.
    static Plan of(std::uint64_t size, std::uint64_t chunk, std::uint64_t buffer) {
        chunk = std::min(chunk, size);
        if (size % chunk != 0)
            throw util::Error(fmt::format(
                "--size {} is not a multiple of --chunk {}: choose a multiple.", size, chunk));
        return {size, chunk, std::clamp(buffer / chunk * chunk, chunk, size)};
    }

    std::uint64_t chunks() const { return size / chunk; }
    std::uint64_t places() const { return std::max<std::uint64_t>(buffer / chunk, 1); }
    /// Returns the offset of chunk `i` in the receiver's memory.
    std::uint64_t place_of(std::uint64_t i) const { return i % places() * chunk; }
    /// Returns its offset in the sender's memory. It changes each round, so that the last round
    /// differs from the one before.
    std::uint64_t source_of(std::uint64_t i) const { return (i + i / places()) % places() * chunk; }

    /// Returns the CRC-32 of the receiver's memory after a complete transfer.
    std::uint32_t expected_crc(std::span<const std::byte> source) const {
        std::uint32_t crc = 0;
        for (std::uint64_t place = 0; place < places(); ++place) {
            const std::uint64_t last = place + (chunks() - 1 - place) / places() * places();
            crc = libdeflate_crc32(crc, source.data() + source_of(last), chunk);
        }
        return crc;
    }
};

}  // namespace lesson22

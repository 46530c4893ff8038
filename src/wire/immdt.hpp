// The two four-byte headers that end a message: immediate data, and the rkey to invalidate
// (IBTA volume 1, 9.3.6 and 9.3.7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/cursor.hpp"

namespace wire {

struct ImmDt {
    static constexpr std::size_t size = 4;

    /// Host byte order, the bytes taken as big-endian. ibv_wc.imm_data keeps the wire's order:
    /// ntohl(imm_data) is this value.
    std::uint32_t value = 0;

    static ImmDt parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const ImmDt&, const ImmDt&) = default;
};

struct Ieth {
    static constexpr std::size_t size = 4;

    std::uint32_t rkey = 0;

    static Ieth parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const Ieth&, const Ieth&) = default;
};

}  // namespace wire

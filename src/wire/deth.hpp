// The headers that name what a connection does not: DETH (IBTA volume 1, 9.3.2), RDETH (9.3.1) and
// XRCETH (annex A14).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/cursor.hpp"

namespace wire {

/// In UD and RD requests: who sent this, and the key that lets it in.
struct Deth {
    static constexpr std::size_t size = 8;

    std::uint32_t q_key = 0;
    std::uint32_t src_qpn = 0;  ///< 24 bits

    static Deth parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const Deth&, const Deth&) = default;
};

/// In every RD packet: the end-to-end context.
struct Rdeth {
    static constexpr std::size_t size = 4;

    std::uint32_t eecnxt = 0;  ///< 24 bits

    static Rdeth parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const Rdeth&, const Rdeth&) = default;
};

/// In XRC requests: the shared receive queue that the message is for.
struct Xrceth {
    static constexpr std::size_t size = 4;

    std::uint32_t xrcsrq = 0;  ///< 24 bits

    static Xrceth parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const Xrceth&, const Xrceth&) = default;
};

}  // namespace wire

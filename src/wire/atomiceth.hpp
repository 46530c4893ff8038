// The headers of an atomic operation's request and answer (IBTA volume 1, 9.3.4 and 9.5.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/cursor.hpp"

namespace wire {

struct AtomicEth {
    static constexpr std::size_t size = 28;

    std::uint64_t va = 0;
    std::uint32_t rkey = 0;
    std::uint64_t swapdt = 0;  ///< the value to swap in, or to add
    std::uint64_t cmpdt = 0;   ///< the value to compare with; no meaning in a FetchAdd

    static AtomicEth parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const AtomicEth&, const AtomicEth&) = default;
};

struct AtomicAckEth {
    static constexpr std::size_t size = 8;

    std::uint64_t origremdt = 0;  ///< the remote value before the operation

    static AtomicAckEth parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const AtomicAckEth&, const AtomicAckEth&) = default;
};

}  // namespace wire

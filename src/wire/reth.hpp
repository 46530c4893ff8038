// RDMA Extended Transport Header: what a WRITE or a READ request addresses (IBTA volume 1, 9.3.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/cursor.hpp"

namespace wire {

struct Reth {
    static constexpr std::size_t size = 16;

    std::uint64_t va = 0;  ///< virtual address in the responder's memory region
    std::uint32_t rkey = 0;
    std::uint32_t dmalen = 0;  ///< bytes of the whole message, not of this packet

    static Reth parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const Reth&, const Reth&) = default;
};

}  // namespace wire

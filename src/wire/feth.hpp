// FLUSH Extended Transport Header (IBTA volume 1, annex A19; bits as in Linux rxe_hdr.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "util/cursor.hpp"

namespace wire {

struct Feth {
    static constexpr std::size_t size = 4;

    static constexpr std::uint8_t global_visibility = 1;
    static constexpr std::uint8_t persistence = 2;

    std::uint8_t plt = 0;  ///< 4 bits, placement type: global_visibility and persistence
    std::uint8_t sel = 0;  ///< 2 bits, selectivity: 0 the range of the RETH, 1 the whole region

    /// "memory range", "whole memory region" or "reserved".
    std::string_view sel_name() const;

    static Feth parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const Feth&, const Feth&) = default;
};

}  // namespace wire

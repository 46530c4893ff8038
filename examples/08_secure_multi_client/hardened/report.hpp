// Lesson 08, hardened, both sides: what a client SENDs after each round: the number of one-sided requests that
// the server's program does not see. Four 8-byte numbers in network byte order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "examples/08_secure_multi_client/resources.hpp"
#include "util/cursor.hpp"

namespace lesson08 {

/// Counts since the previous report.
struct Report {
    static constexpr std::size_t size = message_size;

    std::uint64_t writes = 0;
    std::uint64_t write_bytes = 0;
    std::uint64_t reads = 0;
    std::uint64_t read_bytes = 0;

    static Report parse(util::FixedBytes<size> bytes) {
        return {util::be64<0>(bytes), util::be64<8>(bytes), util::be64<16>(bytes),
                util::be64<24>(bytes)};
    }

    void write_to(std::span<std::byte, size> out) const {
        util::put_be64<0>(out, writes);
        util::put_be64<8>(out, write_bytes);
        util::put_be64<16>(out, reads);
        util::put_be64<24>(out, read_bytes);
    }
};

}  // namespace lesson08

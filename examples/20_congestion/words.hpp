// What client and server say to each other, in network byte order:
//
//     client: "RWLT", version 1, 3 unused, bytes of memory (8); 0: it is done
//     server: "RWLT", version 1, 3 unused, CRC-32 of its memory (4), packets out of sequence that
//     its
//             device has counted meanwhile (4)
#pragma once

#include <array>
#include <cstdint>

#include "exchange/channel.hpp"
#include "lesson/words.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace step20 {

constexpr std::uint32_t magic = 0x52574c54;
constexpr std::uint64_t most_memory = 64 << 20;

struct Ask {
    static constexpr std::size_t size = 16;
    std::uint64_t memory = 0;

    void send(exchange::Channel& channel, const exchange::Patience& patience) const {
        auto bytes = lesson::begin_words<size>(magic);
        util::put_be64<8>(std::span<std::byte, size>(bytes), memory);
        channel.send(bytes, patience);
    }
    /// Throws util::Error where it asks for more than is lent.
    static Ask receive(exchange::Channel& channel, const exchange::Patience& patience) {
        std::array<std::byte, size> bytes{};
        channel.receive(bytes, patience);
        const util::FixedBytes<size> in(bytes);
        lesson::check_words(in, magic, "step 20");
        const Ask ask{util::be64<8>(in)};
        if (ask.memory > most_memory)
            throw util::Error("the client asks for more memory than this server lends.");
        return ask;
    }
};

struct Seen {
    static constexpr std::size_t size = 16;
    std::uint32_t crc = 0;
    std::uint32_t out_of_sequence = 0;

    void send(exchange::Channel& channel, const exchange::Patience& patience) const {
        auto bytes = lesson::begin_words<size>(magic);
        const std::span<std::byte, size> out(bytes);
        util::put_be32<8>(out, crc);
        util::put_be32<12>(out, out_of_sequence);
        channel.send(bytes, patience);
    }
    static Seen receive(exchange::Channel& channel, const exchange::Patience& patience) {
        std::array<std::byte, size> bytes{};
        channel.receive(bytes, patience);
        const util::FixedBytes<size> in(bytes);
        lesson::check_words(in, magic, "step 20");
        return {util::be32<8>(in), util::be32<12>(in)};
    }
};

}  // namespace step20

// What client and server say to each other, in network byte order:
//
//     client: "RWLN", version 1, task (1 byte), 2 unused, bytes of memory (8)
//     server: "RWLN", version 1, 3 unused, CRC-32 of its memory (4), packets out of sequence and
//             duplicates that its device has counted meanwhile (4 each), 4 unused
#pragma once

#include <array>
#include <cstdint>

#include "exchange/channel.hpp"
#include "lesson/words.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace step15 {

enum class Task : std::uint8_t {
    Lend = 1,    ///< memory, and look at it at the end
    FallSilent,  ///< have a queue pair, and then none
    Done,
};

constexpr std::uint32_t magic = 0x52574c4e;
constexpr std::uint64_t most_memory = 256 << 20;

struct Ask {
    static constexpr std::size_t size = 16;
    Task task = Task::Done;
    std::uint64_t memory = 0;

    void send(exchange::Channel& channel, const exchange::Patience& patience) const {
        auto bytes = lesson::begin_words<size>(magic);
        const std::span<std::byte, size> out(bytes);
        util::put_be8<5>(out, static_cast<std::uint8_t>(task));
        util::put_be64<8>(out, memory);
        channel.send(bytes, patience);
    }
    /// Throws util::Error where it asks for nothing that can be.
    static Ask receive(exchange::Channel& channel, const exchange::Patience& patience) {
        std::array<std::byte, size> bytes{};
        channel.receive(bytes, patience);
        const util::FixedBytes<size> in(bytes);
        lesson::check_words(in, magic, "step 15");
        const Ask ask{static_cast<Task>(util::be8<5>(in)), util::be64<8>(in)};
        if (ask.task < Task::Lend || ask.task > Task::Done || ask.memory > most_memory ||
            (ask.task == Task::Lend && ask.memory == 0))
            throw util::Error(
                "the client asks for nothing that this server does. Is it step 15's?");
        return ask;
    }
};

/// What the server has seen of a transfer.
struct Seen {
    static constexpr std::size_t size = 24;
    std::uint32_t crc = 0;
    std::uint32_t out_of_sequence = 0;
    std::uint32_t duplicates = 0;

    void send(exchange::Channel& channel, const exchange::Patience& patience) const {
        auto bytes = lesson::begin_words<size>(magic);
        const std::span<std::byte, size> out(bytes);
        util::put_be32<8>(out, crc);
        util::put_be32<12>(out, out_of_sequence);
        util::put_be32<16>(out, duplicates);
        channel.send(bytes, patience);
    }
    static Seen receive(exchange::Channel& channel, const exchange::Patience& patience) {
        std::array<std::byte, size> bytes{};
        channel.receive(bytes, patience);
        const util::FixedBytes<size> in(bytes);
        lesson::check_words(in, magic, "step 15");
        return {util::be32<8>(in), util::be32<12>(in), util::be32<16>(in)};
    }
};

}  // namespace step15

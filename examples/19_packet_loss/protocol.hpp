// The client's request to the server, in network byte order:
//
//     "RW15", version 1, task (1 byte), 2 unused, bytes of memory (8)
//
// After Task::Expose the server sends common::ReceiverReport at the end.
#pragma once

#include <array>
#include <cstdint>

#include "examples/common/message.hpp"
#include "net/channel.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace lesson19 {

enum class Task : std::uint8_t {
    Expose = 1,  ///< exposes memory, and reports its contents at the end
    FallSilent,  ///< connects a queue pair and destroys it
    Done,
};

constexpr std::uint32_t magic = common::magic_of_lesson(19);
constexpr std::uint64_t most_memory = 256 << 20;

struct Ask {
    static constexpr std::size_t size = 16;
    Task task = Task::Done;
    std::uint64_t memory = 0;

    void send(net::Channel& channel, const net::TimeLimit& limit) const {
        auto bytes = common::begin_message<size>(magic);
        const std::span<std::byte, size> out(bytes);
        util::put_be8<5>(out, static_cast<std::uint8_t>(task));
        util::put_be64<8>(out, memory);
        channel.send(bytes, limit);
    }
    /// Throws util::Error if a value is out of range.
    static Ask receive(net::Channel& channel, const net::TimeLimit& limit) {
        const auto bytes = common::receive_message<size>(channel, magic, limit);
        const util::FixedBytes<size> in(bytes);
        const Ask ask{static_cast<Task>(util::be8<5>(in)), util::be64<8>(in)};
        if (ask.task < Task::Expose || ask.task > Task::Done || ask.memory > most_memory ||
            (ask.task == Task::Expose && ask.memory == 0))
            throw util::Error(
                "the client's request is unknown here. Is it the client of lesson 19?");
        return ask;
    }
};

}  // namespace lesson19

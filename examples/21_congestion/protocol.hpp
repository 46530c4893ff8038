// The client's request, in network byte order:
//
//     "RW20", version 1, 3 unused, bytes of memory (8); 0: done
//
// The server replies with common::ReceiverReport.
#pragma once

#include <array>
#include <cstdint>

#include "examples/common/message.hpp"
#include "net/channel.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace lesson21 {

constexpr std::uint32_t magic = common::magic_of_lesson(21);
constexpr std::uint64_t most_memory = 64 << 20;

struct Ask {
    static constexpr std::size_t size = 16;
    std::uint64_t memory = 0;

    void send(net::Channel& channel, const net::TimeLimit& limit) const {
        auto bytes = common::begin_message<size>(magic);
        util::put_be64<8>(std::span<std::byte, size>(bytes), memory);
        channel.send(bytes, limit);
    }
    /// Throws util::Error if the request exceeds the maximum.
    static Ask receive(net::Channel& channel, const net::TimeLimit& limit) {
        const auto bytes = common::receive_message<size>(channel, magic, limit);
        const util::FixedBytes<size> in(bytes);
        const Ask ask{util::be64<8>(in)};
        if (ask.memory > most_memory)
            throw util::Error("the client requests more memory than this server exposes.");
        return ask;
    }
};

}  // namespace lesson21

// Lesson 10, both sides: the request that the client sends before each connection, over the TCP
// connection of the exchange. In network byte order:
//
//     offset  0   4 bytes   "RW12"
//             4   1         version, 1
//             5   1         task
//             6   2         RNR timer, a 5-bit code
//             8   4         receives to post initially
//            12   4         messages to expect
//            16   4         milliseconds of work per message
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "connection.hpp"
#include "examples/common/message.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace lesson10 {

enum class Task : std::uint8_t {
    Expose = 1,   ///< memory, and does nothing else
    ReceiveLate,  ///< posts the receive for each message only after a barrier
    Overrun,      ///< receive more messages than the completion queue holds
    Receive,      ///< messages, as fast as the work allows
    GiveCredits,  ///< the same, and sends credits
    Done,
};

constexpr std::uint32_t magic = common::magic_of_lesson(10);

struct Ask {
    static constexpr std::size_t size = 20;

    Task task = Task::Done;
    std::uint16_t rnr_timer = 0;
    std::uint32_t receives = 0;
    std::uint32_t messages = 0;
    std::uint32_t work_ms = 0;

    void send(const Side& side) const {
        auto bytes = common::begin_message<size>(magic);
        const std::span<std::byte, size> out(bytes);
        util::put_be8<5>(out, static_cast<std::uint8_t>(task));
        util::put_be16<6>(out, rnr_timer);
        util::put_be32<8>(out, receives);
        util::put_be32<12>(out, messages);
        util::put_be32<16>(out, work_ms);
        side.channel.send(bytes, side.limit());
    }

    /// Waits without a time limit. Throws util::Error if the client has disconnected or a value is
    /// out of range.
    static Ask receive(const Side& side) {
        const auto bytes =
            common::receive_message<size>(side.channel, magic, {side.stop, std::nullopt});
        const util::FixedBytes<size> in(bytes);
        const Ask ask{static_cast<Task>(util::be8<5>(in)), util::be16<6>(in), util::be32<8>(in),
                      util::be32<12>(in), util::be32<16>(in)};
        constexpr std::uint32_t most = 100'000;
        if (ask.task < Task::Expose || ask.task > Task::Done || ask.rnr_timer > 31 ||
            ask.receives > most || ask.messages > most || ask.work_ms > most)
            throw util::Error(
                "the client's request is unknown here. Is it the client of lesson 10?");
        return ask;
    }
};

}  // namespace lesson10

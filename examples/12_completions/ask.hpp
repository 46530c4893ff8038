// What the client asks of the server before each connection, over the TCP connection of the
// exchange: what this server is to do next. In network byte order:
//
//     offset  0   4 bytes   "RWLC"
//             4   1         version, 1
//             5   1         what: Task
//             6   2         RNR timer, a code of 5 bits
//             8   4         receives to have posted
//            12   4         messages that will come
//            16   4         milliseconds of work that each of them makes
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "link.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace step12 {

enum class Task : std::uint8_t {
    Lend = 1,     ///< memory, and do nothing
    ReceiveLate,  ///< each message when the client has met this server
    Overrun,      ///< have more messages come than the completion queue holds
    Receive,      ///< messages, as fast as the work allows
    GiveCredits,  ///< and say how many may come
    Done,
};

struct Ask {
    static constexpr std::size_t size = 20;

    Task task = Task::Done;
    std::uint16_t rnr_timer = 0;
    std::uint32_t receives = 0;
    std::uint32_t messages = 0;
    std::uint32_t work_ms = 0;
};

inline void send(const Side& side, const Ask& ask) {
    std::array<std::byte, Ask::size> bytes{};
    const std::span<std::byte, Ask::size> out(bytes);
    util::put_be32<0>(out, 0x52574c43);
    util::put_be8<4>(out, 1);
    util::put_be8<5>(out, static_cast<std::uint8_t>(ask.task));
    util::put_be16<6>(out, ask.rnr_timer);
    util::put_be32<8>(out, ask.receives);
    util::put_be32<12>(out, ask.messages);
    util::put_be32<16>(out, ask.work_ms);
    side.channel.send(bytes, side.patience());
}

/// Waits for as long as the client takes. Throws util::Error where it is gone, or asks for nothing
/// that this server does.
inline Ask receive_ask(const Side& side) {
    std::array<std::byte, Ask::size> bytes{};
    side.channel.receive(bytes, {side.stop, std::nullopt});
    const util::FixedBytes<Ask::size> in(bytes);
    const Ask ask{static_cast<Task>(util::be8<5>(in)), util::be16<6>(in), util::be32<8>(in),
                  util::be32<12>(in), util::be32<16>(in)};
    constexpr std::uint32_t most = 100'000;
    if (util::be32<0>(in) != 0x52574c43 || util::be8<4>(in) != 1 || ask.task < Task::Lend ||
        ask.task > Task::Done || ask.rnr_timer > 31 || ask.receives > most || ask.messages > most ||
        ask.work_ms > most)
        throw util::Error("the client asks for nothing that this server does. Is it step 12's?");
    return ask;
}

}  // namespace step12

// Lesson 16, both sides: what all parts of the lesson share, and the two messages that travel over
// the TCP connection for each part. In network byte order, a client's Request:
//
//     offset  0   4 bytes   "RW16"
//             4   1         version, 1
//             5   1         Part
//             6   2         0
//             8   4         number of messages that the client will send
//            12   4         length of each in bytes
//            16   4         Q_Key of the server's queue pairs
//            20  16         GID of the multicast group
//
// and a server's Report: "RW16", the version and 3 zeros; then 4 bytes each for messages received,
// packets received, and a value specific to the part.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/common/message.hpp"
#include "net/channel.hpp"
#include "runlog/log.hpp"
#include "util/cursor.hpp"

namespace lesson16 {

struct Side {
    net::Channel& channel;
    lesson06::Port port;
    rdma::Pd pd;
    std::uint32_t first_psn;  // of each queue pair
    runlog::Log& log;
    util::StopSignal& stop;
    std::chrono::milliseconds timeout;  // of each wait

    ibv_context* context() const { return port.context.get(); }
    net::TimeLimit limit() const { return {stop, util::deadline_in(timeout)}; }
    /// Waits until the peer reaches the same barrier.
    void barrier() const { net::barrier(channel, limit()); }
    /// The same without a time limit: only the end of the TCP connection ends it.
    void barrier_without_limit() const { net::barrier(channel, {stop, std::nullopt}); }
};

enum class Part : std::uint8_t {
    Rc = 1,  ///< transports.hpp: numbered messages over one transport
    Uc,
    Ud,
    Datagrams,    ///< datagrams.hpp
    Multicast,    ///< multicast.hpp
    SharedQueue,  ///< shared_queue.hpp
    Xrc,          ///< xrc.hpp
    Done,
};

struct Request {
    static constexpr std::size_t size = 36;

    Part part = Part::Done;
    std::uint32_t messages = 0;
    std::uint32_t length = 0;
    std::uint32_t q_key = 0;
    ibv_gid group{};
};

constexpr std::uint32_t magic = common::magic_of_lesson(16);
constexpr std::uint32_t most_messages = 1000;
constexpr std::uint32_t most_bytes = 65'536;

inline void send(const Side& side, const Request& request) {
    auto bytes = common::begin_message<Request::size>(magic);
    const std::span<std::byte, Request::size> out(bytes);
    util::put_be8<5>(out, static_cast<std::uint8_t>(request.part));
    util::put_be32<8>(out, request.messages);
    util::put_be32<12>(out, request.length);
    util::put_be32<16>(out, request.q_key);
    std::memcpy(out.subspan<20>().data(), request.group.raw, sizeof request.group.raw);
    side.channel.send(bytes, side.limit());
}

/// Waits without a time limit. Throws util::Error if the client has disconnected or the request is
/// invalid.
inline Request receive_request(const Side& side) {
    const auto bytes =
        common::receive_message<Request::size>(side.channel, magic, {side.stop, std::nullopt});
    const util::FixedBytes<Request::size> in(bytes);
    Request request{.part = static_cast<Part>(util::be8<5>(in)),
                    .messages = util::be32<8>(in),
                    .length = util::be32<12>(in),
                    .q_key = util::be32<16>(in)};
    std::memcpy(request.group.raw, in.subspan<20>().data(), sizeof request.group.raw);
    if (request.part < Part::Rc || request.part > Part::Done || request.messages > most_messages ||
        request.length > most_bytes)
        throw util::Error("the client's request is unknown here. Is it the client of lesson 16?");
    return request;
}

struct Report {
    static constexpr std::size_t size = 20;
    static constexpr std::uint32_t not_counted = 0xffffffff;

    std::uint32_t arrived = 0;
    std::uint32_t packets = not_counted;
    std::uint32_t value = 0;
};

inline void send(const Side& side, const Report& report) {
    auto bytes = common::begin_message<Report::size>(magic);
    const std::span<std::byte, Report::size> out(bytes);
    util::put_be32<8>(out, report.arrived);
    util::put_be32<12>(out, report.packets);
    util::put_be32<16>(out, report.value);
    side.channel.send(bytes, side.limit());
}

inline Report receive_report(const Side& side) {
    const auto bytes = common::receive_message<Report::size>(side.channel, magic, side.limit());
    const util::FixedBytes<Report::size> in(bytes);
    return {util::be32<8>(in), util::be32<12>(in), util::be32<16>(in)};
}

}  // namespace lesson16

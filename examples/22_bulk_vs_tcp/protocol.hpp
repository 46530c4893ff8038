// The messages of client and server before and after a transfer, in network byte order:
//
//     client: "RW14", version 1, task (1 byte), 2 unused; size, chunk, buffer (8 bytes each)
//     server: "RW14", version 1, 1 unused, TCP port (2)                     when it is ready
//     server: "RW14", version 1, 3 unused, CRC-32 of its memory (4), 4 unused, and its CPU time
//             in microseconds: user, system, and of the whole host (8 each)       at the end
#pragma once

#include <array>
#include <cstdint>

#include "examples/common/message.hpp"
#include "net/channel.hpp"
#include "plan.hpp"
#include "util/cpu_usage.hpp"
#include "util/cursor.hpp"

namespace lesson22 {

enum class Task : std::uint8_t { Write = 1, Stream, Done };

constexpr std::uint32_t magic = common::magic_of_lesson(22);

struct Ask {
    static constexpr std::size_t size = 32;
    Task task = Task::Done;
    Plan plan;

    void send(net::Channel& channel, const net::TimeLimit& limit) const {
        auto bytes = common::begin_message<size>(magic);
        const std::span<std::byte, size> out(bytes);
        util::put_be8<5>(out, static_cast<std::uint8_t>(task));
        util::put_be64<8>(out, plan.size);
        util::put_be64<16>(out, plan.chunk);
        util::put_be64<24>(out, plan.buffer);
        channel.send(bytes, limit);
    }

    /// Throws util::Error if the request is invalid.
    static Ask receive(net::Channel& channel, const net::TimeLimit& limit) {
        const auto bytes = common::receive_message<size>(channel, magic, limit);
        const util::FixedBytes<size> in(bytes);
        const Ask ask{static_cast<Task>(util::be8<5>(in)),
                      {util::be64<8>(in), util::be64<16>(in), util::be64<24>(in)}};
        const Plan& plan = ask.plan;
        if (ask.task < Task::Write || ask.task > Task::Done ||
            (ask.task != Task::Done &&
             (plan.chunk == 0 || plan.chunk > plan.buffer || plan.buffer > plan.size ||
              plan.buffer % plan.chunk != 0 || plan.size % plan.chunk != 0)))
            throw util::Error(
                "the client requests an invalid transfer. Is it the client of lesson 22?");
        return ask;
    }
};

struct Ready {
    static constexpr std::size_t size = 8;
    std::uint16_t port = 0;

    void send(net::Channel& channel, const net::TimeLimit& limit) const {
        auto bytes = common::begin_message<size>(magic);
        util::put_be16<6>(std::span<std::byte, size>(bytes), port);
        channel.send(bytes, limit);
    }
    static Ready receive(net::Channel& channel, const net::TimeLimit& limit) {
        const auto bytes = common::receive_message<size>(channel, magic, limit);
        return {util::be16<6>(util::FixedBytes<size>(bytes))};
    }
};

struct Result {
    static constexpr std::size_t size = 40;
    std::uint32_t crc = 0;
    util::CpuUsage::Time user{}, system{}, machine{};

    static Result of(std::uint32_t crc, const util::CpuUsage& used) {
        return {crc, used.user, used.system, used.machine()};
    }

    void send(net::Channel& channel, const net::TimeLimit& limit) const {
        auto bytes = common::begin_message<size>(magic);
        const std::span<std::byte, size> out(bytes);
        util::put_be32<8>(out, crc);
        util::put_be64<16>(out, static_cast<std::uint64_t>(user.count()));
        util::put_be64<24>(out, static_cast<std::uint64_t>(system.count()));
        util::put_be64<32>(out, static_cast<std::uint64_t>(machine.count()));
        channel.send(bytes, limit);
    }
    static Result receive(net::Channel& channel, const net::TimeLimit& limit) {
        const auto bytes = common::receive_message<size>(channel, magic, limit);
        const util::FixedBytes<size> in(bytes);
        const auto time = [](std::uint64_t us) {
            return util::CpuUsage::Time(static_cast<std::int64_t>(us));
        };
        return {util::be32<8>(in), time(util::be64<16>(in)), time(util::be64<24>(in)),
                time(util::be64<32>(in))};
    }
};

}  // namespace lesson22

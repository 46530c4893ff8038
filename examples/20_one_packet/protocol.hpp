// The messages of client and server, in network byte order:
//
//     client: "RW19", version 1, operation (1 byte), 2 unused, messages (8), bytes of each (8),
//             milliseconds by which the receives are late (8)
//     server: "RW19", version 1, 3 unused, CRC-32 of its memory (4), messages that it
//             has received (4), its first word (8)
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>

#include "examples/common/message.hpp"
#include "net/channel.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace lesson20 {

enum class Operation : std::uint8_t { Done = 0, Send, Write, WriteImm, Read, FetchAdd };

/// "send", "write", "write-imm", "read", "fetch-add".
constexpr std::array<std::string_view, 6> operation_names{"",          "send", "write",
                                                          "write-imm", "read", "fetch-add"};

constexpr std::uint32_t magic = common::magic_of_lesson(20);
constexpr std::uint64_t most_messages = 256;
constexpr std::uint64_t most_bytes = 1 << 20;

struct Plan {
    Operation operation = Operation::Done;
    std::uint64_t messages = 0;
    std::uint64_t size = 0;     // bytes of each
    std::uint64_t late_ms = 0;  // posts the receives this long after connecting

    bool takes_receives() const {
        return operation == Operation::Send || operation == Operation::WriteImm;
    }
    std::uint64_t memory() const { return messages * size; }

    static constexpr std::size_t bytes = 32;
    void send(net::Channel& channel, const net::TimeLimit& limit) const {
        auto words = common::begin_message<bytes>(magic);
        const std::span<std::byte, bytes> out(words);
        util::put_be8<5>(out, static_cast<std::uint8_t>(operation));
        util::put_be64<8>(out, messages);
        util::put_be64<16>(out, size);
        util::put_be64<24>(out, late_ms);
        channel.send(words, limit);
    }
    /// Throws util::Error if the plan is invalid.
    static Plan receive(net::Channel& channel, const net::TimeLimit& limit) {
        const auto words = common::receive_message<bytes>(channel, magic, limit);
        const util::FixedBytes<bytes> in(words);
        const Plan plan{static_cast<Operation>(util::be8<5>(in)), util::be64<8>(in),
                        util::be64<16>(in), util::be64<24>(in)};
        const bool is_possible = plan.operation <= Operation::FetchAdd &&
                                 plan.messages <= most_messages && plan.size <= most_bytes &&
                                 plan.late_ms <= 10'000;
        if (!is_possible ||
            (plan.operation != Operation::Done && (plan.messages == 0 || plan.size == 0)))
            throw util::Error(
                "the client's request is unknown here. Is it the client of lesson 20?");
        return plan;
    }
};

/// The server's final state.
struct Found {
    static constexpr std::size_t bytes = 24;
    std::uint32_t crc = 0;
    std::uint32_t received = 0;
    std::uint64_t word = 0;

    void send(net::Channel& channel, const net::TimeLimit& limit) const {
        auto words = common::begin_message<bytes>(magic);
        const std::span<std::byte, bytes> out(words);
        util::put_be32<8>(out, crc);
        util::put_be32<12>(out, received);
        util::put_be64<16>(out, word);
        channel.send(words, limit);
    }
    static Found receive(net::Channel& channel, const net::TimeLimit& limit) {
        const auto words = common::receive_message<bytes>(channel, magic, limit);
        const util::FixedBytes<bytes> in(words);
        return {util::be32<8>(in), util::be32<12>(in), util::be64<16>(in)};
    }
};

/// Returns the operations for --op; all of them for "all". Throws util::Error.
inline std::vector<Operation> operations_of(const std::string& word) {
    std::vector<Operation> operations;
    for (std::size_t i = 1; i < operation_names.size(); ++i)
        if (word == "all" || word == operation_names.at(i))
            operations.push_back(static_cast<Operation>(i));
    if (operations.empty())
        throw util::Error(fmt::format("--op is all, {}, not '{}'.",
                                      fmt::join(std::span(operation_names).subspan(1), ", "),
                                      word));
    return operations;
}

}  // namespace lesson20

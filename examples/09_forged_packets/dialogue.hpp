// Lesson 09, both sides: the messages apart from the exchange of endpoints. The client requests, the
// server executes and reports.
//
//     a request, 16 bytes:
//     offset  0   4 bytes   "RW09"
//             4   1         version, 1
//             5   1         the request: Ask
//             6   2         0
//             8   8         report after the device has received this many packets
//     a report, 80 bytes:
//             0   4         "RW09"
//             4   1         version, 1
//             5   1         0x80
//             6   1         state of the queue pair: ibv_qp_state
//             7   1         status of its oldest completion: ibv_wc_status; 0xff: none
//             8   4         the PSN that the queue pair expects
//            12   4         CRC-32 of the exposed memory of both connections, concatenated
//            16   4         CRC-32 of the memory that a READ fills
//            20   4         0
//            24  24         the first bytes of the memory exposed on the attacked connection
//            48   4 * 8     the device's counters, all ones if it has no such counter: packets
//                           received and sent, duplicate and out-of-sequence requests
// Numbers are in network byte order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "examples/common/message.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace lesson09 {

enum class Ask : std::uint8_t {
    Report = 1,
    Connect,    ///< a new queue pair, an exchange of endpoints, RTS
    Reconnect,  ///< the same queue pair through RESET, with the same PSN
    Renew,      ///< the same queue pair through RESET, with a new PSN
    PostWrite,  ///< a WRITE of 64 bytes to an invalid address, without a response
    PostRead,   ///< a READ of 64 bytes from an invalid address
    Done,
};

struct Request {
    Ask ask{};
    std::uint64_t received = 0;  ///< 0: report immediately

    bool operator==(const Request&) const = default;
};

struct Report {
    static constexpr std::size_t shown = 24;
    static constexpr std::uint8_t none = 0xff;

    std::uint8_t state = 0;
    std::uint8_t completion = none;
    std::uint32_t rq_psn = 0;
    std::uint32_t memory_crc = 0;
    std::uint32_t read_crc = 0;
    std::array<std::byte, shown> begins{};
    std::optional<std::uint64_t> received;
    std::optional<std::uint64_t> sent;
    std::optional<std::uint64_t> duplicate;
    std::optional<std::uint64_t> out_of_sequence;

    bool operator==(const Report&) const = default;
};

inline constexpr std::size_t request_size = 16;
inline constexpr std::size_t report_size = 80;
inline constexpr std::uint32_t magic = common::magic_of_lesson(9);
inline constexpr std::uint8_t report_type = 0x80;
inline constexpr std::uint64_t no_counter = UINT64_MAX;

inline std::array<std::byte, request_size> serialize(const Request& request) {
    auto bytes = common::begin_message<request_size>(magic);
    const std::span<std::byte, request_size> out(bytes);
    util::put_be8<5>(out, static_cast<std::uint8_t>(request.ask));
    util::put_be64<8>(out, request.received);
    return bytes;
}

/// Throws util::Error if the bytes are not a request of this version; likewise parse_report().
inline Request parse_request(util::FixedBytes<request_size> bytes) {
    common::check_message(bytes, magic);
    const unsigned ask = util::be8<5>(bytes);
    if (ask < static_cast<unsigned>(Ask::Report) || ask > static_cast<unsigned>(Ask::Done))
        throw util::Error(fmt::format("the client sent an unknown request, number {}.", ask));
    return {.ask = static_cast<Ask>(ask), .received = util::be64<8>(bytes)};
}

inline std::array<std::byte, report_size> serialize(const Report& report) {
    auto bytes = common::begin_message<report_size>(magic);
    const std::span<std::byte, report_size> out(bytes);
    util::put_be8<5>(out, report_type);
    util::put_be8<6>(out, report.state);
    util::put_be8<7>(out, report.completion);
    util::put_be32<8>(out, report.rq_psn);
    util::put_be32<12>(out, report.memory_crc);
    util::put_be32<16>(out, report.read_crc);
    std::ranges::copy(report.begins, out.subspan<24, Report::shown>().begin());
    util::put_be64<48>(out, report.received.value_or(no_counter));
    util::put_be64<56>(out, report.sent.value_or(no_counter));
    util::put_be64<64>(out, report.duplicate.value_or(no_counter));
    util::put_be64<72>(out, report.out_of_sequence.value_or(no_counter));
    return bytes;
}

inline Report parse_report(util::FixedBytes<report_size> bytes) {
    common::check_message(bytes, magic);
    if (util::be8<5>(bytes) != report_type)
        throw util::Error("the server sent another message instead of its report.");
    const auto counter = [](std::uint64_t value) {
        return value == no_counter ? std::optional<std::uint64_t>() : value;
    };
    Report report{.state = util::be8<6>(bytes),
                  .completion = util::be8<7>(bytes),
                  .rq_psn = util::be32<8>(bytes),
                  .memory_crc = util::be32<12>(bytes),
                  .read_crc = util::be32<16>(bytes),
                  .received = counter(util::be64<48>(bytes)),
                  .sent = counter(util::be64<56>(bytes)),
                  .duplicate = counter(util::be64<64>(bytes)),
                  .out_of_sequence = counter(util::be64<72>(bytes))};
    std::ranges::copy(bytes.subspan<24, Report::shown>(), report.begins.begin());
    return report;
}

}  // namespace lesson09

// What the two programs of step 09 say to each other beside the exchange of endpoints: the client
// asks, the server does it and reports.
//
//     a request, 16 bytes:
//     offset  0   4 bytes   "RWLF"
//             4   1         version, 1
//             5   1         what is asked for: Ask
//             6   2         0
//             8   8         report once the device has counted so many packets received
//     a report, 80 bytes:
//             0   4         "RWLF"
//             4   1         version, 1
//             5   1         0x80
//             6   1         state of the queue pair: ibv_qp_state
//             7   1         status of its oldest completion: ibv_wc_status; 0xff: there is none
//             8   4         the PSN that the queue pair expects
//            12   4         CRC-32 of all lent memory, one connection's behind the other's
//            16   4         CRC-32 of the memory that a READ fills
//            20   4         0
//            24  24         the first bytes of the memory lent on the connection under attack
//            48   4 * 8     the device's counters, all ones where it has no such one: packets
//                           received and sent, duplicate and out-of-sequence requests
// Numbers are in network byte order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "util/cursor.hpp"

namespace forge {

enum class Ask : std::uint8_t {
    Report = 1,
    Connect,    ///< a new queue pair, an exchange of endpoints, RTS
    Reconnect,  ///< the same queue pair through RESET, and again the PSN it had
    Renew,      ///< the same queue pair through RESET, and a new PSN
    PostWrite,  ///< a WRITE of 64 bytes to nowhere, to be left unanswered
    PostRead,   ///< a READ of 64 bytes from nowhere
    Done,
};

struct Request {
    Ask ask{};
    std::uint64_t received = 0;  ///< 0: report at once

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

std::array<std::byte, request_size> serialize(const Request& request);
std::array<std::byte, report_size> serialize(const Report& report);

/// Both throw util::Error where the bytes are none of this version.
Request parse_request(util::FixedBytes<request_size> bytes);
Report parse_report(util::FixedBytes<report_size> bytes);

}  // namespace forge

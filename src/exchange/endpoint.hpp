// What one end of a connection has to know of the other before it can receive: the endpoint. And
// how it travels: versioned messages, field by field in network order, so that two programs of
// different machines, compilers and versions understand each other or say that they do not.
//
//     offset  0   4 bytes   "RWLX"
//             4   1         version, 1
//             5   1         type: 1 endpoint, 2 ready
//             6   2         bytes that follow: 48 of an endpoint, 0 of ready
//     of an endpoint:
//             8   4         QPN, 24 bits
//            12   4         PSN of the first packet that its sender will send, 24 bits
//            16   2         LID; 0 on RoCE
//            18   2         path MTU in bytes: 256, 512, 1024, 2048 or 4096
//            20  16         GID
//            36   8         va of the lent memory
//            44   8         its length in bytes
//            52   4         its rkey
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runlog/event.hpp"
#include "util/cursor.hpp"

namespace exchange {

struct Endpoint {
    std::uint32_t qpn = 0;
    std::uint32_t psn = 0;
    std::uint16_t lid = 0;
    std::uint16_t path_mtu = 0;
    std::array<std::byte, 16> gid{};
    std::uint64_t va = 0;
    std::uint64_t length = 0;
    std::uint32_t rkey = 0;

    bool operator==(const Endpoint&) const = default;
};

inline constexpr std::size_t header_size = 8;
inline constexpr std::size_t endpoint_size = 48;

enum class MessageType : std::uint8_t { Endpoint = 1, Ready = 2 };

std::array<std::byte, header_size + endpoint_size> serialize(const Endpoint& endpoint);
std::array<std::byte, header_size> serialize_ready();

/// Throws util::Error where this is no header of this version, or not of the type that is expected:
/// the sentence says what came instead.
void check_header(util::FixedBytes<header_size> bytes, MessageType expected);

/// Throws util::Error where a value is none: a QPN or PSN of more than 24 bits, QPN 0 or 1, an
/// unknown path MTU, memory that wraps around.
Endpoint parse_endpoint(util::FixedBytes<endpoint_size> bytes);

/// A run log "exchange" event; `direction` is "sent" or "received".
runlog::Fields describe(const Endpoint& endpoint, std::string_view direction,
                        std::string_view channel);

}  // namespace exchange

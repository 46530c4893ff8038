// The endpoint: what a side must know about its peer before it can receive. As a message
// (net/message.hpp), it has these fields after the header:
//
//     offset  8   4 bytes   QPN, 24 bits
//            12   4         PSN of the sender's first packet, 24 bits
//            16   2         LID; 0 on RoCE
//            18   2         path MTU in bytes: 256, 512, 1024, 2048 or 4096
//            20  16         GID
//            36   8         va of the exposed memory
//            44   8         its length in bytes
//            52   4         its rkey
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/message.hpp"
#include "runlog/event.hpp"
#include "util/address.hpp"
#include "util/cursor.hpp"

namespace net {

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

std::array<std::byte, header_size + endpoint_size> serialize(const Endpoint& endpoint);

/// Throws ProtocolError for an invalid value: a QPN or PSN of more than 24 bits, QPN 0 or 1, an
/// unknown path MTU, memory that wraps around.
Endpoint parse_endpoint(util::FixedBytes<endpoint_size> bytes);

/// Throws ProtocolError unless the GID is the source address of the peer's TCP connection. A queue
/// pair must connect only to the peer of the exchange. Also, on RoCE a GID without a host blocks
/// ibv_modify_qp(RTR) until address resolution gives up, about a second.
void check_gid(const Endpoint& endpoint, const util::Address& peer);

/// A run log "exchange" event; `direction` is "sent" or "received".
runlog::Fields describe(const Endpoint& endpoint, std::string_view direction,
                        std::string_view channel);

}  // namespace net

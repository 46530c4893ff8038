// The TCP header of a packet that is not RoCE, such as the exchange of endpoints (RFC 9293, 3.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace wire {

struct TcpSegment {
    /// Size of the header without options.
    static constexpr std::size_t size = 20;

    std::uint16_t src_port = 0;
    std::uint16_t dst_port = 0;
    std::uint8_t flags = 0;          ///< FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32 (RFC 9293)
    std::size_t header_length = 0;   ///< bytes, options included: 20..60 if valid
    std::size_t payload_length = 0;  ///< from the IP header's length, whatever was captured
    util::Bytes payload;             ///< the captured part; points into the frame
};

/// Returns nullopt if `packet` is not TCP or if its header was not captured. `frame`: the bytes
/// from which `packet` was decoded.
std::optional<TcpSegment> tcp_segment(const Packet& packet, util::Bytes frame);

}  // namespace wire

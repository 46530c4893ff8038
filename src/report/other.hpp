// What a capture holds beside RoCE, named briefly: the TCP connection of an exchange, ARP, ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace report {

struct TcpSegment {
    std::uint16_t src_port = 0;
    std::uint16_t dst_port = 0;
    std::uint8_t flags = 0;          ///< FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32 (RFC 9293)
    std::size_t payload_length = 0;  ///< from the IP header's length, however much was captured
};

/// nullopt where `packet` is no TCP, or its header was not captured. `frame`: what `packet` was
/// decoded from.
std::optional<TcpSegment> tcp_segment(const wire::Packet& packet, util::Bytes frame);

/// "TCP 45678 → 18515 len 32", "TCP 45678 → 18515 SYN", "UDP 5353 → 5353 len 45", "ARP". Without
/// `frame`, TCP has no ports.
std::string other_summary(const wire::Packet& packet, util::Bytes frame);

}  // namespace report

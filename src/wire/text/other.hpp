// Short names of packets other than RoCE: TCP, ARP, ...
#pragma once

#include <cstdint>
#include <string>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace wire {

/// "TCP 45678 → 18515 len 32", "TCP 45678 → 18515 SYN", "UDP 5353 → 5353 len 45", "ARP", "PFC pause
/// priority 3: 65535 quanta"; with encapsulations: "VXLAN 42: ARP". Without `frame`, TCP has no
/// ports.
std::string other_summary(const Packet& packet, util::Bytes frame);

/// The kind of packet, for counting: "TCP", "UDP", "EtherType 0x88cc", "VXLAN with ARP inside",
/// "later IP fragments". For a packet without a BTH also "cut in front of the BTH" and "malformed
/// in front of the BTH".
std::string other_kind(const Packet& packet);

/// A number if `not_roce` alone does not determine the kind: EtherType, IP protocol, MAC control
/// opcode, or UDP port of a tunnel that is not decoded; otherwise 0.
std::uint16_t other_number(const Packet& packet);

}  // namespace wire

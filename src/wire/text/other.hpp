// Short names of packets other than RoCE: the TCP connection of an exchange, ARP, ...
#pragma once

#include <cstdint>
#include <string>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace wire {

/// "TCP 45678 → 18515 len 32", "TCP 45678 → 18515 SYN", "UDP 5353 → 5353 len 45", "ARP", "PFC
/// pause priority 3: 65535 quanta"; behind its encapsulations: "VXLAN 42: ARP". Without `frame`, TCP has no ports.
std::string other_summary(const Packet& packet, util::Bytes frame);

/// What kind of packet it is, for counting: "TCP", "UDP", "EtherType 0x88cc", "VXLAN with ARP
/// inside", "later IP fragments". Of a packet without a BTH also "cut in front of the BTH" and
/// "malformed in front of the BTH".
std::string other_kind(const Packet& packet);

/// Where `not_roce` alone does not say the kind: its EtherType, IP protocol, MAC control opcode, or
/// UDP port of a tunnel that is not decoded; otherwise 0.
std::uint16_t other_number(const Packet& packet);

}  // namespace wire

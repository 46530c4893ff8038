// What a capture holds beside RoCE, named briefly: the TCP connection of an exchange, ARP, ...
#pragma once

#include <string>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace wire {

/// "TCP 45678 → 18515 len 32", "TCP 45678 → 18515 SYN", "UDP 5353 → 5353 len 45", "ARP". Without
/// `frame`, TCP has no ports.
std::string other_summary(const Packet& packet, util::Bytes frame);

}  // namespace wire

// Builds valid frames, for tests and for lessons that send their own packets.
#pragma once

#include <cstddef>
#include <vector>

#include "wire/packet.hpp"

namespace wire {

/// Returns the frame that `packet` describes. EtherTypes, lengths, the pad count, IP and UDP
/// checksums and the ICRC are computed and need not be set. Extension headers that the opcode
/// requires and `packet` lacks are zeros; those that the opcode does not use are left out.
///
/// `packet` must have a BTH and one of ipv4, ipv6 and grh; without `ethernet` the frame is
/// LinkType::RawIp. Throws std::invalid_argument if it does not, if a GRH has no Ethernet header,
/// if an opcode that carries no payload has some, and if the result is too long for its length
/// field. With an opcode without a row, the payload follows the BTH immediately.
std::vector<std::byte> encode(const Packet& packet);

}  // namespace wire

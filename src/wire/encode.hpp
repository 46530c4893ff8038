// Builds valid frames: for tests, and for lessons that send packets of their own making.
#pragma once

#include <cstddef>
#include <vector>

#include "wire/packet.hpp"

namespace wire {

/// The frame that `packet` describes. What follows from the rest is computed and need not be set:
/// EtherTypes, lengths, the pad count, IP and UDP checksums and the ICRC; extension headers that
/// the opcode asks for and `packet` does not have are zeros, and those it does not ask for are left
/// out.
///
/// `packet` has a BTH and one of ipv4, ipv6 and grh; without `ethernet` the frame is
/// LinkType::RawIp. Throws std::invalid_argument when it does not, when a GRH comes without
/// Ethernet, when there is payload behind an opcode that carries none, and when the result is too
/// long for its length field. An opcode without a row is followed by the payload at once.
std::vector<std::byte> encode(const Packet& packet);

}  // namespace wire

// Finds a cause of a wrong ICRC.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/packet.hpp"

namespace wire {

/// Returns the UDP source port with which the packet's ICRC would be correct: some mirrors and
/// capture drivers rewrite the port. nullopt if the ICRC is not bad, or if no source port makes it
/// correct. One in 65536 packets that are corrupted elsewhere has such a port by chance.
std::optional<std::uint16_t> right_with_srcport(const Packet& packet);

}  // namespace wire

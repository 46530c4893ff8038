// Why an ICRC may be wrong.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/packet.hpp"

namespace wire {

/// The UDP source port with which the packet's ICRC would be right: some mirrors and capture drivers
/// write another one. nullopt where the ICRC is not bad, or no source port makes it right. One of
/// 65536 packets that are damaged elsewhere has such a port by chance.
std::optional<std::uint16_t> right_with_srcport(const Packet& packet);

}  // namespace wire

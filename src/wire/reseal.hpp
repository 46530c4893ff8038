// Updates checksums and the ICRC after bytes of a captured frame were changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/cursor.hpp"

namespace wire {

/// Good: the packet gets a correct ICRC. Left: the ICRC stays unchanged, as if the link had
/// corrupted the packet.
enum class IcrcAfter : std::uint8_t { Good, Left };

/// Recomputes in place the checksum of an IPv4 header, the ICRC if requested, and the checksum of
/// UDP if present (0 stays 0). `frame`: a whole Ethernet frame. In a frame that is not a complete
/// RoCE packet, only the IPv4 header is updated.
void reseal(std::span<std::byte> frame, IcrcAfter icrc);

}  // namespace wire

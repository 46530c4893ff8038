// Updates checksums and the ICRC after bytes of a captured frame were changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/trail.hpp"

namespace wire {

/// Good: the packet gets a correct ICRC. Left: the ICRC stays unchanged, as if the link had
/// corrupted the packet.
enum class IcrcAfter : std::uint8_t { Good, Left };

/// Recomputes in place the checksum of an IPv4 header, the ICRC if requested, and the checksum of
/// UDP if present (0 stays 0). `frame`: a whole Ethernet frame. `trail`: of the frame as it is now,
/// or as it was before a change that moved no header. In a frame that is not a complete RoCE packet,
/// the ICRC stays unchanged.
void reseal(std::span<std::byte> frame, const Trail& trail, IcrcAfter icrc);

}  // namespace wire

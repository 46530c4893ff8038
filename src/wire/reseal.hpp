// What has to follow when bytes of a captured frame are changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/cursor.hpp"

namespace wire {

/// Whether the changed packet is to look as if its sender had meant it so (Good), or as if a link
/// had damaged it (Left: the ICRC stays what it was).
enum class IcrcAfter : std::uint8_t { Good, Left };

/// Computes anew, in place: the checksum of an IPv4 header, the ICRC where it is asked for, and the
/// checksum of UDP where there is one (0 stays 0). `frame`: Ethernet, captured as a whole. Of a
/// frame that is not RoCE as far as its ICRC, only the IPv4 header is looked at.
void reseal(std::span<std::byte> frame, IcrcAfter icrc);

}  // namespace wire

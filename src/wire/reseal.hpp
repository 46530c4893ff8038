// Updates checksums and the ICRC after bytes of a captured frame were changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "util/cursor.hpp"
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

/// The checksum that this IPv4 header should have. `ip`: the header, at least Ipv4::size bytes.
std::uint16_t right_ip_checksum(util::Bytes ip);

/// The checksum that the frame's UDP datagram should have, never 0. nullopt if it has no UDP header,
/// or not all of its bytes.
std::optional<std::uint16_t> right_udp_checksum(util::Bytes frame, const Trail& trail);

/// The ICRC that the frame should have, as compute_icrc(). nullopt if it does not have all of its
/// bytes, or has headers for which no specification says what the ICRC covers.
std::optional<std::uint32_t> right_icrc(util::Bytes frame, const Trail& trail);

}  // namespace wire

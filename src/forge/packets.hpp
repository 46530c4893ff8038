// Packets made from one that was seen: what an attacker learns from a single frame is in them, and
// what is changed is said. The result is wire::encode's, with the lengths and the ICRC that belong
// to it.
#pragma once

#include <functional>
#include <vector>

#include "forge/sniffer.hpp"
#include "wire/packet.hpp"

namespace forge {

using Frame = std::vector<std::byte>;

/// Whose packet it says it is, as the GID of a RoCEv2 endpoint; all zeros without an IP header.
wire::Gid source_gid(const wire::Packet& packet);

/// `seen` with the changes that `edit` makes. Its TTL or hop limit is 1: no router would forward
/// it.
Frame altered(const Seen& seen, const std::function<void(wire::Packet&)>& edit);

/// A WRITE Only of `payload` with this PSN; the rest as in the WRITE Only that was seen.
Frame write_like(const Seen& write, wire::Psn psn, util::Bytes payload);

/// An Acknowledge with this syndrome, as if it were from the receiver of `request`. An RC packet
/// does not name the queue pair that sent it: `dest_qpn` was learnt elsewhere.
Frame acknowledge_of(const Seen& request, std::uint32_t dest_qpn, wire::Psn psn,
                     std::uint8_t syndrome);

/// A READ response Only with `payload`, likewise.
Frame read_response_of(const Seen& request, std::uint32_t dest_qpn, wire::Psn psn,
                       util::Bytes payload);

/// Of the AETH (IBTA volume 1, 9.7.5.2).
namespace syndrome {
inline constexpr std::uint8_t ack = 0x1f;  ///< without end-to-end flow control
inline constexpr std::uint8_t psn_sequence_error = 0x60;
inline constexpr std::uint8_t remote_access_error = 0x62;
}  // namespace syndrome

}  // namespace forge

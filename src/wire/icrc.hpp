// Invariant CRC: CRC-32 over what no router may change (IBTA volume 1, 7.8.1; annexes A16, A17).
//
// It covers eight bytes of ones in place of the LRH, the network header, the UDP header, the BTH
// and everything behind it, with these taken as ones: IPv4 type of service, TTL and header
// checksum; IPv6 and GRH traffic class, flow label and hop limit; the UDP checksum; the BTH's byte
// with FECN, BECN and six reserved bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "util/cursor.hpp"

namespace wire {

/// What stands in front of the BTH.
enum class IcrcLayout : std::uint8_t { Ipv4Udp, Ipv6Udp, Grh };

inline constexpr std::size_t icrc_size = 4;

/// `packet`: from the first byte of the IP header or GRH to the last byte before the ICRC, with
/// neither IPv4 options nor IPv6 extension headers. The result is the four bytes as they stand on
/// the wire, read as a big-endian number, which is how Wireshark shows them; nullopt when `packet`
/// ends before its BTH does.
std::optional<std::uint32_t> compute_icrc(IcrcLayout layout, util::Bytes packet);

enum class IcrcStatus : std::uint8_t { Good, Bad, Unchecked };

/// Whether decoding computes the ICRC, which reads every byte of the packet: for long packets that
/// is most of the work. Skip leaves it unchecked, with its value from the packet.
enum class IcrcCheck : std::uint8_t { Compute, Skip };

struct Icrc {
    /// The packet's own, in the same form as compute_icrc's result; nullopt when not captured.
    std::optional<std::uint32_t> value;
    /// What it should be; nullopt when unchecked.
    std::optional<std::uint32_t> computed;
    IcrcStatus status = IcrcStatus::Unchecked;
    /// Why unchecked, static text; empty otherwise.
    std::string_view reason;
};

/// "good", "bad", "unchecked".
std::string_view name(IcrcStatus status);

}  // namespace wire

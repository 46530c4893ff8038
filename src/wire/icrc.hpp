// Invariant CRC: CRC-32 over the bytes that no router may change (IBTA volume 1, 7.8.1; annexes
// A16, A17).
//
// It covers eight bytes of ones in place of the LRH, the network header, the UDP header, the BTH
// and everything after it. A packet of native InfiniBand has the ICRC of RoCEv1 if it has a GRH;
// without one, the LRH is covered, except for its virtual lane (VL). These fields count as ones: IPv4 type of service, TTL and header
// checksum; IPv6 and GRH traffic class, flow label and hop limit; the UDP checksum; the BTH's byte
// with FECN, BECN and six reserved bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "util/cursor.hpp"

namespace wire {

/// Headers before the BTH. Lrh: a local packet of native InfiniBand, without a GRH.
enum class IcrcLayout : std::uint8_t { Ipv4Udp, Ipv6Udp, Grh, Lrh };

inline constexpr std::size_t icrc_size = 4;

/// `packet`: from the first byte of the IP header, GRH or LRH to the last byte before the ICRC,
/// without IPv4 options or IPv6 extension headers. Returns the four wire bytes as a big-endian
/// number, as Wireshark shows them; nullopt if `packet` ends before the end of its BTH.
std::optional<std::uint32_t> compute_icrc(IcrcLayout layout, util::Bytes packet);

enum class IcrcStatus : std::uint8_t { Good, Bad, Unchecked };

/// Whether decoding computes the ICRC, which reads every byte of the packet: most of the work for
/// long packets. Skip leaves it unchecked, with its value from the packet.
enum class IcrcCheck : std::uint8_t { Compute, Skip };

struct IcrcHint;

struct Icrc {
    /// The packet's ICRC, in the form of compute_icrc's result; nullopt if not captured.
    std::optional<std::uint32_t> value;
    /// The correct value; nullopt if unchecked.
    std::optional<std::uint32_t> computed;
    IcrcStatus status = IcrcStatus::Unchecked;
    /// Why it is unchecked, static text; otherwise empty.
    std::string_view reason;
    /// What makes a bad ICRC right; set by RoceFlows, as long as its next packet is not decoded.
    const IcrcHint* hint = nullptr;
};

/// "good", "bad", "unchecked".
std::string_view name(IcrcStatus status);

}  // namespace wire

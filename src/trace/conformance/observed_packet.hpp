// One packet of a reliable connection at one end of the link, with the values that the models use.
#pragma once

#include <cstdint>
#include <string_view>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace conformance {

/// Where the link emulator's capture saw a frame: as its host sent it, or as it left towards its receiver.
enum class LinkSide : std::uint8_t { Ingress, Egress };

/// What became of a frame between the two.
enum class Fate : std::uint8_t {
    Passed,
    Lost,
    Doubled,
    Reordered,  ///< one that was sent later came out first
    Corrupted,  ///< came out with a wrong ICRC, or malformed
    Changed,    ///< came out as another packet with a right ICRC
};

/// "lost", "doubled", ...; "passed".
std::string_view name(Fate fate);

struct ObservedPacket {
    std::uint64_t frame = 0;  ///< number in the capture, from 1
    std::int64_t t_ns = 0;
    const wire::OpcodeInfo* opcode = nullptr;
    wire::Psn psn;
    bool ack_req = false;
    bool damaged = false;      ///< its receiver must not act on it
    Fate fate = Fate::Passed;  ///< of a frame that was sent
    std::uint64_t copy = 0;    ///< of the same: its first copy after the link; 0: none
    wire::Aeth aeth;
    std::uint64_t va = 0;  ///< of a RETH or an AtomicETH
    std::uint32_t rkey = 0;
    std::uint32_t dmalen = 0;   ///< of a RETH
    std::uint64_t value = 0;    ///< that an ATOMIC Acknowledge returns
    std::uint64_t form = 0;     ///< digest of what a repeat must repeat of the headers
    std::uint64_t digest = 0;   ///< and of the payload, too
    std::uint32_t payload = 0;  ///< bytes on the wire

    bool is(wire::Operation operation) const { return opcode->operation == operation; }
    /// Answered by data and not by an ACK: READ, ATOMIC, FLUSH, ATOMIC WRITE.
    bool wants_data() const;
    bool is_ack() const;
    bool is_rnr_nak() const;
    bool is_sequence_nak() const;
    /// A NAK that ends the queue pair.
    bool is_fatal_nak() const;
    bool is_data() const;  ///< a READ response or an ATOMIC Acknowledge
};

/// The `opcode` is nullptr where it is no packet of a reliable connection.
ObservedPacket observe(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet);

/// "RDMA WRITE Middle", without the transport's name.
std::string_view short_name(const wire::OpcodeInfo& opcode);

}  // namespace conformance

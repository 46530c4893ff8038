// One packet of a reliable connection at one end of the link, with the values that the models use.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/flow/seen.hpp"

namespace conformance {

/// Side of the link emulator where a frame was captured: from its sender, or to its receiver.
enum class LinkSide : std::uint8_t { Ingress, Egress };

/// What happened to a frame between the two.
enum class Fate : std::uint8_t {
    Passed,
    Lost,
    Doubled,
    Reordered,  ///< left after one that was sent later
    Corrupted,  ///< left with a wrong ICRC, or malformed
    Changed,    ///< left as another packet with a valid ICRC
};

/// "lost", "doubled", ...; "passed".
std::string_view name(Fate fate);

struct ObservedPacket : flow::Seen {
    Fate fate = Fate::Passed;  ///< of a sent frame
    std::uint64_t copy = 0;    ///< of a sent frame: its first copy after the link; 0: none
    std::uint64_t value = 0;   ///< returned by an ATOMIC Acknowledge
    /// Digest of the header fields that a retransmission must keep; 0: the capture lacks some.
    std::uint64_t form = 0;
    std::uint64_t digest = 0;  ///< digest of these and the captured payload
    bool is_cut = false;       ///< the capture lacks a part of the payload
    bool is_copy = false;      ///< captured before: it need not have arrived again
};

/// The `opcode` is nullptr if the packet belongs to no reliable connection.
ObservedPacket observe(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet);

/// "RDMA WRITE Middle", without the transport's name.
std::string_view short_name(const wire::OpcodeInfo& opcode);

}  // namespace conformance

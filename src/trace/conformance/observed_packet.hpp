// One packet of a reliable connection at one end of the link, with the values that the models use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/flow/host.hpp"
#include "trace/flow/seen.hpp"
#include "util/cursor.hpp"

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

/// Whether a wrong ICRC shows that a packet was damaged. A sender may leave it to its adapter: then it is
/// wrong in a capture at its host, and right on the link.
enum class IcrcTrust : std::uint8_t { Full, None };

/// Where a frame of a capture at both ends of a path was captured.
struct Passing {
    LinkSide side{};
    /// Whose interface it passed; nullopt: that of any host, because the link emulator captured it.
    std::optional<flow::Host> host;
    util::Bytes identity;  ///< bytes that are equal at both ends
    IcrcTrust trust = IcrcTrust::Full;
};

/// Whether its receiver must drop it, as far as the capture shows.
bool is_damaged(const wire::Packet& packet, IcrcTrust trust);

struct ObservedPacket : flow::Seen {
    Fate fate = Fate::Passed;  ///< of a sent frame
    std::uint64_t copy = 0;    ///< of a sent frame: its first copy after the link; 0: none
    std::uint64_t value = 0;   ///< returned by an ATOMIC Acknowledge
    /// Digest of the header fields that a retransmission must keep; 0: the capture lacks some.
    std::uint64_t form = 0;
    std::uint64_t digest = 0;     ///< digest of these and the captured payload
    bool is_cut = false;          ///< the capture lacks a part of the payload
    bool has_wrong_icrc = false;  ///< also if that need not mean damage
    bool has_twin = false;        ///< of a sent frame: FrameMatcher::Origin
    bool is_copy = false;         ///< captured before: it need not have arrived again
};

/// The `opcode` is nullptr if the packet belongs to no reliable connection.
ObservedPacket observe(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                       IcrcTrust trust = IcrcTrust::Full);

/// "RDMA WRITE Middle", without the transport's name.
std::string_view short_name(const wire::OpcodeInfo& opcode);

}  // namespace conformance

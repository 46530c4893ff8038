// Report on two paired streams, or on one whose other direction is unknown. Plain values; times are
// nanoseconds since 1970, lengths bytes, PSNs and QPNs 24 bits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "trace/flow/stream.hpp"

namespace flow {

/// The requests of one direction. All counts except `packets`, `repeats` and `copies` are of packets seen for
/// the first time.
struct Requests {
    std::uint64_t packets = 0;
    wire::Psn first_psn;  ///< valid if packets != 0
    wire::Psn last_psn;   ///< highest PSN in use: a READ request uses those of its response
    std::uint64_t psns = 0;
    double psns_per_second = 0;  ///< 0: only one request, or PSNs are not tracked
    std::uint64_t repeats = 0;   ///< retransmissions of packets seen before
    std::uint64_t copies = 0;    ///< seen before, with the same IPv4 identification: sent once
    std::uint64_t late = 0;      ///< seen after later ones, for the first time
    std::uint64_t gaps = 0;
    std::uint64_t missing = 0;  ///< PSNs never seen
    std::uint64_t restarts = 0;
    KeySet rkeys;
    /// From a message's last packet to the response that acknowledges it.
    LatencySummary ack;
    /// From a READ request to the first and to the last packet of its response.
    LatencySummary read_first;
    LatencySummary read_last;
    std::uint64_t unmeasured = 0;  ///< requests without any of these latencies
};

struct Direction {
    Host src;
    Host dst;
    std::uint32_t dest_qpn = 0;
    std::optional<std::uint32_t> src_qpn;
    std::uint64_t packets = 0;
    std::uint64_t wire_bytes = 0;
    std::uint64_t payload_bytes = 0;
    std::int64_t first_ns = 0;  ///< valid if packets != 0
    std::int64_t last_ns = 0;
    MessageCounts messages{};  ///< a message counts when its last packet passes
    Requests requests;
    Responses responses;
    Marks marks;
    std::uint64_t malformed = 0;
    std::uint64_t icrc_checked = 0;
    std::uint64_t icrc_bad = 0;
};

struct Conversation {
    std::uint64_t number = 0;  ///< from 1, in the order of the first packets
    wire::Transport transport{};
    Network network{};
    Pairing pairing = Pairing::None;
    PathMtu path_mtu = 0;  ///< 0: unknown
    /// Every request occurs twice in quick succession: captured at two points.
    bool is_doubled = false;
    /// PSNs are tracked: a gap is a loss. False for datagrams, whose sender numbers the packets to
    /// all of its receivers in one sequence.
    bool is_sequenced = false;
    Direction forward;  ///< the direction seen first
    std::optional<Direction> backward;
};

/// Totals of a capture.
struct Totals {
    std::uint64_t packets = 0;
    std::uint64_t not_roce = 0;
    std::uint64_t unreadable = 0;  ///< RoCE or not: truncated or malformed before its BTH ends
    std::uint64_t malformed = 0;
    std::uint64_t evicted_streams = 0;  ///< dropped to make room
    std::uint64_t evicted_packets = 0;
    std::uint64_t evicted_bytes = 0;
};

}  // namespace flow

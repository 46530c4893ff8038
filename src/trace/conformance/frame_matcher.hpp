// Pairs each frame that left the link emulator with the frame that entered it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace conformance {

/// What the link emulator did to a frame, according to its log.
enum class LinkAction : std::uint8_t { Other, Drop, Corrupt, Set };

/// Returns the bytes that are equal at both ends of any path: from the BTH up to the ICRC, without
/// it, because a host may leave it to its adapter. Empty if there is no BTH.
util::Bytes invariant_bytes(const wire::Packet& packet, util::Bytes frame);

/// Most frames leave unchanged, so the bytes identify them. But a retransmission may have the same
/// bytes, and a changed frame has others. The matcher takes the newest frame that fits, because the
/// older ones were probably lost; or the oldest of those that are on their way, if none that was sent
/// after it has left. It prefers what the log states. It remembers the last 65,536 frames that entered.
class FrameMatcher {
  public:
    /// `frame`: number in the capture, from 1. Call before the frame enters.
    void know(std::uint64_t frame, LinkAction event) { events_[frame] = event; }

    /// Where the caller keeps a frame; passed through.
    struct Place {
        std::size_t stream = 0;
        std::size_t index = 0;
    };
    struct Origin {
        std::uint64_t frame = 0;
        std::optional<Place> place;
        bool is_changed = false;
        /// A later frame with the same bytes has left before: which of the two this is, is a guess.
        bool has_twin = false;
    };
    /// Call in the order of the frames.
    void entered(std::uint64_t frame, std::int64_t t_ns, util::Bytes bytes,
                 const std::optional<Place>& place);
    /// Returns nullopt if no frame fits: it entered before the capture began.
    std::optional<Origin> left(std::int64_t t_ns, util::Bytes bytes);

  private:
    struct Entered {
        std::uint64_t frame = 0;
        std::int64_t t_ns = 0;
        std::uint64_t digest = 0;
        std::size_t size = 0;
        std::optional<Place> place;
    };
    // Frames with the same bytes that the log does not list as dropped or changed.
    struct Equal {
        std::vector<std::uint64_t> waiting;  // in order
        std::uint64_t last_left = 0;         // 0: none
    };
    // Frames of one size that have not left, in order.
    struct Waiting {
        std::set<std::uint64_t> all;      // without those that the log lists as dropped
        std::set<std::uint64_t> changed;  // of these: the log lists a change
    };
    std::optional<LinkAction> event_of(std::uint64_t frame) const;
    // Return a frame's number; 0: none.
    std::uint64_t unchanged(std::uint64_t digest, std::int64_t t_ns) const;
    std::uint64_t changed(std::size_t size) const;
    const Entered& entered_as(std::uint64_t frame) const;
    void leave(const Entered& entered);
    void forget_oldest();

    std::unordered_map<std::uint64_t, LinkAction> events_;
    std::deque<Entered> entered_;
    std::unordered_map<std::uint64_t, Equal> by_digest_;
    std::unordered_map<std::size_t, Waiting> by_size_;
    std::unordered_map<std::size_t, std::uint64_t> newest_left_;  // by the stream of the place
    std::int64_t shortest_way_ns_ = 0;                            // 0: unknown
};

}  // namespace conformance

// Pairs each frame that left the link emulator with the frame that entered it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
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
/// bytes, and a changed frame has others. The matcher takes the newest frame that fits, and prefers
/// what the log states.
class FrameMatcher {
  public:
    /// `frame`: number in the capture, from 1.
    void know(std::uint64_t frame, LinkAction event) { events_[frame] = event; }

    struct Origin {
        std::uint64_t frame = 0;
        bool is_changed = false;
    };
    void entered(std::uint64_t frame, util::Bytes bytes);
    /// Returns nullopt if no frame fits: it entered before the capture began.
    std::optional<Origin> left(std::uint64_t frame, util::Bytes bytes);

    /// Returns the frame numbers of the copies that left.
    const std::vector<std::uint64_t>& copies(std::uint64_t frame) const;

  private:
    struct Entered {
        std::uint64_t frame = 0;
        std::size_t size = 0;
    };
    std::optional<LinkAction> event_of(std::uint64_t frame) const;
    std::optional<Origin> changed(std::size_t size);

    std::unordered_map<std::uint64_t, LinkAction> events_;
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> by_digest_;
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> copies_;
    std::deque<Entered> recent_;
};

}  // namespace conformance

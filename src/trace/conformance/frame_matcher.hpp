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

/// What the link emulator's log says that it did to a frame.
enum class Event : std::uint8_t { Other, Drop, Duplicate, Delay, Reorder, Corrupt, Set };

/// What is the same at both ends, whatever is between them: from the BTH to the ICRC, which it leaves
/// out, since a host may leave that to its adapter. Empty without a BTH.
util::Bytes invariant_bytes(const wire::Packet& packet, util::Bytes frame);

/// A frame leaves as it came, so that the bytes tell; but a repeat may have the same bytes, and a
/// changed frame has others. The newest that fits is taken, and the log's word counts where there
/// is one.
class FrameMatcher {
  public:
    /// `frame`: by its number in the capture, from 1.
    void know(std::uint64_t frame, Event event) { events_[frame] = event; }

    struct Origin {
        std::uint64_t frame = 0;
        bool is_changed = false;
    };
    void entered(std::uint64_t frame, util::Bytes bytes);
    /// nullopt where none fits: a frame that entered before the capture began.
    std::optional<Origin> left(std::uint64_t frame, util::Bytes bytes);

    /// When a frame left: the numbers of its copies.
    const std::vector<std::uint64_t>& copies(std::uint64_t frame) const;

  private:
    struct Entered {
        std::uint64_t frame = 0;
        std::size_t size = 0;
    };
    std::optional<Event> event_of(std::uint64_t frame) const;
    std::optional<Origin> changed(std::size_t size);

    std::unordered_map<std::uint64_t, Event> events_;
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> by_digest_;
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> copies_;
    std::deque<Entered> recent_;
};

}  // namespace conformance

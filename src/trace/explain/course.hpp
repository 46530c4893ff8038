// How the requests of a direction went: what was sent again, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/explain/direction.hpp"

namespace explain {

/// Why a request packet was sent again, or arrived out of its turn.
enum class Why : std::uint8_t {
    LostBefore,  ///< it was missing where the capture was made, and came later
    LostBehind,  ///< it passed the capture and did not reach the responder
    Reordered,   ///< it was missing for a moment, and came by itself
    AnswerLost,  ///< its acknowledgement passed the capture before it was sent again
    DataLost,    ///< the same of a READ or an atomic: its response
    AnswerLate,  ///< the first copy was acknowledged, too, but after the second was sent
    NotReady,    ///< RNR NAK
    Doubled,     ///< a copy so soon behind the first that no timer can have sent it
    Damaged,     ///< the first copy, or its answer, had a wrong ICRC
    Unanswered,  ///< nobody answered it until the end
};

struct Episode {
    Why why{};
    const Seen* first =
        nullptr;  ///< the copy before; of what was missing: the packet after the gap
    const Seen* again = nullptr;   ///< the repeat, or the packet that came late
    const Seen* answer = nullptr;  ///< the NAK or the acknowledgement that tells; may be nullptr
    std::int64_t cost_ns = 0;
};

struct Course {
    std::vector<Episode> episodes;
    std::uint64_t messages = 0;  ///< requests that passed for the first time, packets
    std::uint64_t repeats = 0;   ///< packets
    std::uint64_t gaps = 0;      ///< PSNs that were missing when a later one passed
    /// PSNs that never passed although a later one was acknowledged: the capture missed them.
    std::uint64_t unseen = 0;
    const Seen* newest = nullptr;  ///< the last request that passed for the first time
    const Seen* last_answer = nullptr;
    /// The request that was repeated, unanswered, until the end, and its copies; nullptr: none.
    const Seen* silent = nullptr;
    std::vector<const Seen*> silent_copies;

    std::size_t count(Why why) const;
    const Episode* first(Why why) const;
    std::int64_t cost_of(Why why) const;
};

Course course_of(const Direction& direction);

}  // namespace explain

// The requests of a direction: which were retransmitted, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/explain/direction.hpp"

namespace explain {

/// Why a request packet was retransmitted, or arrived out of order.
enum class Why : std::uint8_t {
    LostBefore,  ///< it was missing at the capture point, and captured later
    LostBehind,  ///< it was captured, but did not reach the responder
    Reordered,   ///< it was missing for a short time, and the original arrived
    AnswerLost,  ///< its acknowledgement was captured before the retransmission
    DataLost,    ///< the same for the response to a READ or an atomic
    AnswerLate,  ///< the first copy was acknowledged too, but after the second was sent
    NotReady,    ///< RNR NAK
    Doubled,     ///< a copy of a single packet, too soon after the first for any timer
    Early,       ///< retransmitted with the requests after it, too soon for any timer
    Damaged,     ///< the first copy, or its response, had a wrong ICRC
    Unanswered,  ///< it had no response until the end
};

struct Episode {
    Why why{};
    const Seen* first =
        nullptr;  ///< the previous copy; for a missing packet: the packet after the gap
    const Seen* again = nullptr;   ///< the retransmission, or the packet that arrived late
    const Seen* answer = nullptr;  ///< the NAK or acknowledgement that shows it; may be nullptr
    std::int64_t cost_ns = 0;
    std::size_t packets = 1;  ///< retransmitted in one sequence, beginning with `again`
};

struct Course {
    std::vector<Episode> episodes;
    std::uint64_t messages = 0;  ///< request packets seen for the first time
    std::uint64_t repeats = 0;   ///< packets
    std::uint64_t gaps = 0;      ///< PSNs that were missing when a later one was captured
    std::uint64_t filled = 0;    ///< of these, PSNs that were captured later
    /// There are so many more ACKs than requests that at least half of the copies arrived, too.
    bool are_copies_answered = false;
    std::size_t answered = 0;  ///< requests that have a response
    /// The shortest time from the first copy of a request to its response; 0: none has one.
    std::int64_t fastest_ns = 0;
    const Seen* newest = nullptr;  ///< the last request seen for the first time
    const Seen* last_answer = nullptr;
    /// The request retransmitted without a response until the end, and its copies; nullptr: none.
    const Seen* silent = nullptr;
    std::vector<const Seen*> silent_copies;

    std::size_t count(Why why) const;
    const Episode* first(Why why) const;
    std::int64_t cost_of(Why why) const;
};

Course course_of(const Direction& direction);

}  // namespace explain

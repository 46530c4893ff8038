// The requests of a direction: which were retransmitted, and why.
//
// Memory: that of a Walk grows with what was retransmitted, not with the packets: forget() limits
// both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/explain/direction.hpp"
#include "trace/explain/passages.hpp"

namespace explain {

/// Why a request packet was retransmitted, or arrived out of order.
enum class Why : std::uint8_t {
    LostBefore,  ///< it, or a request behind it, was missing at the capture point, and captured later
    LostBehind,  ///< it was captured, but did not reach the responder
    Reordered,   ///< it was missing for a short time, and the original arrived
    AnswerLost,  ///< its acknowledgement was captured before the retransmission
    DataLost,    ///< the same for the response to a READ or an atomic
    AnswerLate,  ///< both copies were acknowledged, after the second was sent
    NotReady,    ///< RNR NAK
    Doubled,     ///< the same packet, or a copy of a single one too soon after it for any timer
    Early,       ///< retransmitted with the requests after it, too soon for any timer
    Damaged,     ///< the first copy, or its response, had a wrong ICRC
    Unanswered,  ///< it had no response until the end
    Last = Unanswered,
};

struct Episode {
    Why why{};
    const Seen* first =
        nullptr;  ///< the previous copy; for a missing packet: the packet after the gap
    const Seen* again = nullptr;   ///< the retransmission, or the packet that arrived late
    const Seen* answer = nullptr;  ///< the NAK or acknowledgement that shows it; may be nullptr
    /// Of a missing packet: the next one with its PSN; may be nullptr.
    const Seen* next_copy = nullptr;
    std::int64_t cost_ns = 0;
    std::size_t packets = 1;      ///< retransmitted in one sequence, beginning with `again`
    std::size_t asking = 0;       ///< of these, those that require a response
    std::size_t answers = 0;      ///< responses to the sequence, or to first copies of its requests
    bool shares_answers = false;  ///< some of `answers` fit another episode as well
    /// A request captured between the two copies, or the first one, requires a response.
    bool was_due = false;
    bool is_same_packet = false;  ///< the second copy is no retransmission (flow::PacketIds)
    wire::Psn newest;             ///< of the requests before `again`, the highest
    std::int64_t idle_ns = 0;     ///< since the request packet before `again`
    /// Of DataLost: the response to `again`, or to its first packet, was captured between the copies.
    bool had_data = false;
    /// Of DataLost: a later response than that was captured between the copies.
    bool was_passed_over = false;
    /// Of DataLost, in the time in which an overtaken packet arrives: responses like the one that
    /// `again` asks for, and requests for it.
    std::uint32_t data_came = 0, data_asked = 0;
    /// A second response acknowledges requests that the retransmission repeats.
    bool has_second_answer = false;
    /// Both ends were captured: `why` is no guess.
    bool is_known = false;
    /// Then the frame of the request or response that did not arrive; 0: all arrived.
    std::uint64_t lost = 0;
    std::int64_t answer_arrived_ns = 0;  ///< if both ends were captured; 0: unknown

    /// When the requester had `answer`, as far as is known.
    std::int64_t answered_ns() const {
        return answer_arrived_ns != 0 ? answer_arrived_ns : answer->t_ns;
    }
    void add_copy(bool requires_response) {
        ++packets;
        asking += requires_response ? 1 : 0;
    }
};

/// Packets with a wrong ICRC of one kind, and the first of them.
struct Damaged {
    std::uint64_t count = 0;
    std::vector<const Seen*> first;  ///< at most 3
    /// Without nullptr; with whether its first packet is a request.
    std::map<const wire::IcrcHint*, bool> hints;

    void add(const Seen& seen);
    /// Adds those of `other`: the first ones in the order of the capture.
    void add(const Damaged& other);
};

struct Course {
    std::vector<Episode> episodes;
    /// The numbers of request packets from one episode to the next.
    struct Spacing {
        std::size_t episodes = 0;
        std::uint64_t last = 0;  ///< requests until the last episode
        std::uint64_t least = UINT64_MAX, most = 0;
    } spacing;
    std::uint64_t requests = 0;  ///< packets, without damaged ones
    std::uint64_t responses = 0;
    std::uint64_t messages = 0;   ///< request packets seen for the first time
    std::uint64_t repeats = 0;    ///< packets
    std::uint64_t gaps = 0;       ///< PSNs that were missing when a later one was captured
    std::uint64_t filled = 0;     ///< of these, PSNs that were captured later
    std::uint64_t misplaced = 0;  ///< of those, with an earlier time: the capture is not in order
    std::uint64_t ends = 0;       ///< last packets of messages
    std::uint64_t broken = 0;     ///< messages with gaps, at least
    std::uint64_t rnr_naks = 0;   ///< those of requests that take a receive
    /// RNR NAKs of requests that take none, and the first of them with its request.
    struct Refused {
        std::uint64_t count = 0;
        const Seen *request = nullptr, *nak = nullptr;
    } refused_without_receive;
    std::uint64_t asked = 0;  ///< requests that require a response, each counted once
    /// There are so many more ACKs than requests that at least half of the copies arrived, too.
    bool are_copies_answered = false;
    std::size_t answered = 0;  ///< requests that have a response
    /// The shortest time from the first copy of a request to its response; 0: none has one.
    std::int64_t fastest_ns = 0;
    /// The longest time from a request that was sent once to its own response; 0: none has one.
    std::int64_t slowest_ns = 0;
    const Seen* newest = nullptr;  ///< the last request seen for the first time
    const Seen* last_answer = nullptr;
    /// A request with the PSN of the first response, or a later one, was captured before it.
    bool was_first_answer_sent = false;
    /// The request retransmitted without a response until the end, and its copies; nullptr: none.
    const Seen* silent = nullptr;
    std::vector<const Seen*> silent_copies;
    /// The first requests whose PSN does not follow the one before, with that one.
    std::vector<std::pair<const Seen*, const Seen*>> jumps;

    /// The packets that receivers dropped: without a hint, right with another source port, or right
    /// with another change.
    struct Damage {
        Damaged unexplained, port, other;
        /// Packets of a sender that leaves the ICRC to its adapter, right with another change.
        Damaged trusted;
        /// The same, right with another source port.
        Damaged trusted_port;
    } damage;

    std::size_t count(Why why) const;
    const Episode* first(Why why) const;
    std::int64_t cost_of(Why why) const;
    /// Number of episodes of this kind that cost at least so much.
    std::size_t count(Why why, std::int64_t least_ns) const;

    /// Episodes that a Walk has forgotten.
    struct Forgotten {
        std::size_t count = 0;
        std::int64_t cost_ns = 0;
    };
    std::array<Forgotten, static_cast<std::size_t>(Why::Last) + 1> forgotten{};
};

/// Follows a direction through a capture.
class Walk {
  public:
    /// Takes the packets behind those of the last call. The packets must stay where they are, except
    /// those that forget() does not hold.
    void go_on(const Direction& direction);

    struct Share {
        std::uint64_t frame = 0;   ///< requests up to it are forgotten
        std::size_t episodes = 0;  ///< that are kept
    };
    /// Calls `hold` for each packet that the walk refers to. `passages`: nullptr: not of both ends.
    void forget(const Share& share, const Direction& direction, const Passages* passages,
                const std::function<void(const Seen*)>& hold);

    /// Call once, after the last packet.
    Course finish(const Direction& direction, const Passages* passages);

  private:
    struct Sent {
        const Seen* last = nullptr;  // the newest copy
        const Seen* first = nullptr;
        const Seen* answer = nullptr;  // the first that covers it, since its first copy
        std::uint32_t width = 1;
    };
    using Copies = std::unordered_map<std::uint32_t, Sent>;
    static constexpr std::size_t no_episode = std::numeric_limits<std::size_t>::max();
    struct Gap {
        wire::Psn first;
        std::uint32_t count = 0;
        const Seen* behind = nullptr;
        bool was_damaged = false;  // one of its packets was captured before, with a wrong ICRC
        bool is_filled = false;
        bool was_in_sequence = false;  // filled by a retransmission that began with an earlier PSN
        std::size_t episode = no_episode;
    };
    using Gaps = std::vector<Gap>;

    // course.cpp
    void see_damaged(const Seen& seen);
    void ask(const Seen& request);
    void go_to(wire::Psn psn);
    void pass(const Seen& request, std::uint32_t width);
    void come_again(const Seen& request, std::uint32_t width);
    bool follows(const Seen& request, const Seen& last) const;
    void go_past(const Seen& request);
    bool was_asked_for(const Gap& gap) const;
    Gaps::iterator gap_with(wire::Psn psn);
    void fill(Gap& gap, const Seen& request, bool continues);
    void reordered(const Gap& gap, const Seen& again, const Sent& sent);
    const Seen* answered_read(const Seen& again) const;
    static bool is_asked_for_again(const Seen& request, const Sent& sent);
    void judge(const Seen& request, const Sent& sent);
    void go_on_behind_overtaken(const Seen& request);
    void note(Episode episode);
    // course_responses.cpp
    void take(const Seen& response);
    void note_rnr_nak(const Seen& nak);
    void count_answer(const Seen& response);
    void cover(wire::Psn psn, const Seen& response);
    void note_second_answer(wire::Psn psn);
    void follow_data(const Seen& seen);
    std::span<Episode> newest_episodes();
    // course_end.cpp
    void limit_episodes(std::size_t most);
    void settle(Episode& episode) const;
    const Sent* copies_of(wire::Psn psn) const;
    void learn_acknowledgements();
    std::optional<bool> was_first_copy_answered(const Episode& episode) const;
    void find_late_doubles();
    void find_silence(const Direction& direction);
    // course_both_ends.cpp
    static void know(Episode& episode, const Direction& direction, const Passages* passages);

    // Maximum delay of a packet that was overtaken on the path.
    static constexpr std::int64_t overtaken_ns = 10'000'000;
    // The same, of one that neither a NAK nor a timer can have sent again.
    static constexpr std::int64_t long_overtaken_ns = 60'000'000;
    static constexpr std::size_t newest_gaps = 64;

    Course course_;
    std::uint64_t frame_ = 0;  // of the last packet taken
    std::uint32_t path_mtu_ = 0;
    bool has_begun_ = false;
    // Of the current sequence of PSNs, and of the one before it, to which the requests may go back: a
    // changed or forged packet is a sequence of its own.
    wire::Psn next_, acked_;
    Copies sent_;
    struct Left {
        wire::Psn next, acked;
        Copies sent;
        const Seen* last = nullptr;
    };
    std::optional<Left> left_;
    Gaps gaps_;
    std::unordered_map<std::uint32_t, std::uint64_t> data_;  // responses: PSN, newest frame
    std::array<const Seen*, 64> reads_{};                    // the newest
    std::size_t read_count_ = 0;
    const Seen* last_ = nullptr;
    const Seen* nak_ = nullptr;
    const Seen* rnr_ = nullptr;
    std::uint64_t damaged_frame_ = 0;  // of the newest damaged packet before the request
    wire::Psn damaged_psn_;            // its PSN
    flow::PacketIds ids_;
    std::uint64_t due_frame_ = 0;  // of the newest request that requires a response
    std::optional<wire::Psn> newest_asked_;
    bool in_episode_ = false;
    std::optional<std::uint64_t> broken_at_;  // number of message ends before the newest gap
    std::optional<std::size_t> sequence_;     // the episode that a retransmission continues
    std::vector<std::size_t> midst_;  // the episodes of missing packets that came among new ones
    bool acknowledges_each_copy_ = false;  // also those that do not ask for an ACK
    std::size_t asked_ = 0, asked_again_ = 0, acks_ = 0;
};

}  // namespace explain

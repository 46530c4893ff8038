#include "trace/flow/response_sequence.hpp"

#include <algorithm>

namespace flow {

void ResponseSequence::expect(wire::Psn first) {
    if (started_)
        return;
    started_ = true;
    next_ = first;
}

Responses ResponseSequence::counts() const {
    Responses made = counts_;
    made.gaps = gaps_.count();
    made.missing = gaps_.missing();
    return made;
}

void ResponseSequence::count(wire::Psn psn) {
    if (counts_.packets++ == 0)
        counts_.first_psn = counts_.last_psn = psn;
}

// If the sequence has not started yet, or the PSN is far off, the sequence starts here: returns 0,
// and the number of PSNs acknowledged is unknown. The first response may answer requests from
// before the capture.
std::int32_t ResponseSequence::ahead_of_next(wire::Psn psn) {
    const bool is_first = counts_.packets == 0;
    count(psn);
    const std::int32_t ahead = distance(next_, psn);
    const auto reach = longest_jump + static_cast<std::int32_t>(longest_read_run_);
    if (started_ && ahead >= (is_first ? 0 : -reach) && ahead <= longest_jump)
        return ahead;
    started_ = false;
    next_ = psn;
    gaps_.go_to({});
    return 0;
}

void ResponseSequence::move_to(wire::Psn psn) {
    started_ = true;
    counts_.last_psn = psn;
    next_ = psn + 1;
}

void ResponseSequence::add_acknowledge(wire::Psn psn, const wire::Aeth& aeth) {
    switch (aeth.kind()) {
        case wire::AethKind::Ack:
            return acknowledge(psn);
        case wire::AethKind::RnrNak:
            ++counts_.rnr_naks;
            return refuse(psn);
        case wire::AethKind::Nak:
            ++counts_.naks[std::min<std::size_t>(aeth.code(), Responses::nak_codes - 1)];
            return refuse(psn);
        case wire::AethKind::Reserved:
            return count(psn);
    }
}

void ResponseSequence::acknowledge(wire::Psn psn) {
    ++counts_.acks;
    const std::int32_t ahead = ahead_of_next(psn);
    if (ahead < 0) {
        ++counts_.repeats;
        return;
    }
    if (started_) {
        const auto acked = static_cast<std::uint64_t>(ahead) + 1;
        ++counts_.counted_acks;
        counts_.psns_acked += acked;
        counts_.most_acked = std::max(counts_.most_acked, acked);
    }
    in_read_ = false;
    move_to(psn);
}

// A NAK refuses the request with its PSN and acknowledges all requests before it.
void ResponseSequence::refuse(wire::Psn psn) {
    if (ahead_of_next(psn) < 0)
        return;
    started_ = true;
    counts_.last_psn = psn;
    next_ = psn;
    in_read_ = false;
}

Novelty ResponseSequence::add_atomic_acknowledge(wire::Psn psn) {
    if (ahead_of_next(psn) < 0) {
        ++counts_.repeats;
        return Novelty::Repeat;
    }
    in_read_ = false;
    move_to(psn);
    return Novelty::New;
}

Novelty ResponseSequence::add_read_response(wire::Psn psn, wire::Position position) {
    const bool begins = position == wire::Position::First || position == wire::Position::Only;
    const std::int32_t ahead = ahead_of_next(psn);
    if (ahead < 0) {
        // The response to a retransmitted request: seen before, or missing until now.
        const bool is_late = gaps_.fill(psn, 1);
        ++(is_late ? counts_.late : counts_.repeats);
        return is_late ? Novelty::Late : Novelty::Repeat;
    }
    // A first response may skip the PSNs of requests that it acknowledges. Other responses, and a
    // first one in the middle of another READ, may not.
    if (ahead > 0 && started_ && (!begins || in_read_))
        gaps_.note(next_, static_cast<std::uint32_t>(ahead));
    read_run_ = begins ? 1 : read_run_ + 1;
    longest_read_run_ = std::max(longest_read_run_, read_run_);
    in_read_ = position == wire::Position::First || position == wire::Position::Middle;
    move_to(psn);
    return Novelty::New;
}

}  // namespace flow

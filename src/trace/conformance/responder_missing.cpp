// Requests that a capture at one point does not have. A responder answers a request behind a gap with a
// sequence NAK; with another response, the requests in the gap had arrived.
#include <algorithm>

#include "trace/conformance/responder.hpp"

namespace conformance {
namespace {

// Beyond, the PSN of the request or of its response is wrong.
constexpr ExtendedPsn most_missing = flow::longest_jump;

}  // namespace

// Goes on with the request that the response answers, behind all gaps before it. `later`: the state after
// all waiting requests. Returns false if it is not behind a gap.
bool Responder::go_past_missing(const State& later, const ObservedPacket& sent) {
    if (!facts_.may_lack_packets || sent.is_sequence_nak() ||
        !waiting_with_.contains(sent.psn.value()))
        return false;
    const ExtendedPsn answered = sequence_.extend(sent.psn);
    if (answered <= later.expected || answered > later.expected + most_missing)
        return false;
    const auto request = std::ranges::find_if(waiting_, [&](const ObservedPacket& one) {
        return !one.is_damaged && one.psn == sent.psn;
    });
    if (request == waiting_.end())
        return false;
    for (auto before = waiting_.begin(); before != request; ++before) {
        go_on_at(*before, answered, sent.frame);
        pass_over(*before);
    }
    go_on_at(*request, answered, sent.frame);
    // How many messages were complete in the gaps is unknown.
    msn_is_known_ = false;
    reading_.reset();
    ahead_.reset();
    forget_blocks();
    take(static_cast<std::size_t>(request - waiting_.begin()));
    return true;
}

// Leaves out a gap before the request, if it is not behind the one with the PSN `answered`.
void Responder::go_on_at(const ObservedPacket& request, ExtendedPsn answered, std::uint64_t frame) {
    const ExtendedPsn place = sequence_.extend(request.psn);
    if (request.is_damaged || place <= state_.expected || place > answered)
        return;
    note_missing(state_.expected, place, frame);
    state_.expected = place;
    state_.nak_sent = state_.rnr_sent = false;
    state_.is_open_known = false;
    state_.open.reset();
}

void Responder::note_missing(ExtendedPsn begin, ExtendedPsn end, std::uint64_t frame) {
    if (begin >= end)
        return;
    if (missing_.psns == 0) {
        missing_.first = sequence_.psn_of(begin);
        missing_.frame = frame;
    }
    missing_.psns += static_cast<std::uint64_t>(end - begin);
}

void Responder::note_ahead(const State& later, const ObservedPacket& sent) {
    const ExtendedPsn place = sequence_.extend(sent.psn);
    if (!facts_.may_lack_packets || sent.is_sequence_nak() || place < later.expected ||
        place > later.expected + most_missing)
        return;
    if (ahead_)
        ahead_->newest = std::max(ahead_->newest, place);
    else
        ahead_ = {.expected = later.expected, .newest = place, .frame = sent.frame};
}

bool Responder::is_within(const Ahead& ahead, const ObservedPacket& request) const {
    const ExtendedPsn place = sequence_.extend(request.psn);
    return !request.is_damaged && place >= ahead.expected && place <= ahead.newest;
}

}  // namespace conformance

// Requests that a capture at one point does not have. A responder answers a request behind a gap with a
// sequence NAK; with another response, the requests in the gap had arrived.
#include <algorithm>

#include "trace/conformance/responder.hpp"

namespace conformance {
namespace {

// Beyond, the PSN of the request or of its response is wrong.
constexpr ExtendedPsn most_missing = flow::longest_jump;

}  // namespace

// Goes on behind the gap before the request that the response answers. `later`: the state after all
// waiting requests. Returns false if there is none.
bool Responder::go_past_missing(const State& later, const ObservedPacket& sent) {
    if (!facts_.may_lack_packets || sent.is_sequence_nak() ||
        !waiting_with_.contains(sent.psn.value()))
        return false;
    const ExtendedPsn answered = sequence_.extend(sent.psn);
    if (answered <= later.expected || answered > later.expected + most_missing)
        return false;
    const auto behind = std::ranges::find_if(waiting_, [&](const ObservedPacket& request) {
        const ExtendedPsn place = sequence_.extend(request.psn);
        return !request.is_damaged && place > later.expected && place <= answered;
    });
    if (behind == waiting_.end())
        return false;
    const ExtendedPsn next = sequence_.extend(behind->psn);
    const auto count = static_cast<std::size_t>(behind - waiting_.begin());
    for (std::size_t i = 0; i < count; ++i)
        pass_over(process(waiting_[i]));
    note_missing(state_.expected, next, sent.frame);
    state_.expected = next;
    state_.nak_sent = state_.rnr_sent = false;
    state_.is_open_known = false;
    state_.open.reset();
    // How many messages were complete in the gap is unknown.
    msn_is_known_ = false;
    reading_.reset();
    ahead_.reset();
    take(count);
    return true;
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

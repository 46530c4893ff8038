// The requests that wait for a response, in blocks. A block keeps the responder's state before it and the
// PSNs that its requests explain: a response is compared only with requests that may explain it.
#include <algorithm>
#include <utility>

#include "trace/conformance/responder.hpp"

namespace conformance {

void Responder::Places::add(ExtendedPsn first, ExtendedPsn behind) {
    begin = std::min(begin, first);
    end = std::max(end, behind);
}

// Follows explains().
void Responder::Outlook::add(const Expectation& expectation) {
    const ExtendedPsn place = expectation.place;
    const bool is_copy = expectation.arrival.of == Class::Duplicate;
    switch (expectation.owed) {
        case Owed::Nothing:
            break;
        case Owed::Ack:
            acks.add(place, place + 1);
            break;
        case Owed::DuplicateAck:
            copies_acks.add(place, expectation.before.expected);
            break;
        case Owed::Data:
            (is_copy ? copies_data : data).add(place, place + expectation.psns);
            break;
        case Owed::SequenceNak:
            gaps.add(expectation.before.expected, expectation.before.expected + 1);
            break;
        case Owed::InvalidRequest:
            refusals.add(place, place + 1);
            break;
    }
    if (!is_copy && may_refuse(expectation))
        refusals.add(place, place + expectation.psns);
}

bool Responder::Outlook::may_explain(const ObservedPacket& sent, ExtendedPsn place) const {
    if (sent.is_ack())
        return acks.contains(place) || copies_acks.contains(place);
    if (sent.is_data())
        return data.contains(place) || copies_data.contains(place);
    if (sent.is_sequence_nak())
        return gaps.contains(place);
    return refusals.contains(place) || copies_data.contains(place);
}

// Makes this block, of as many requests as wait. Returns false if none is left for it. The blocks before it
// exist.
bool Responder::look_ahead(std::size_t block) {
    if (block == blocks_.size()) {
        if (looked_at_ == waiting_.size())
            return false;
        const State before = later();
        blocks_.push_back({.requests = 0,
                           .before = before,
                           .after = before,
                           .outlook = {},
                           .of_damaged = {},
                           .breaks_message = false});
    }
    Block& made = blocks_[block];
    const State now = std::exchange(state_, made.after);
    for (; made.requests < block_size && looked_at_ < waiting_.size(); ++made.requests) {
        const ObservedPacket& request = waiting_[looked_at_++];
        if (request.is_damaged) {
            const State before = state_;
            made.of_damaged.add(process_as_whole(request));
            state_ = before;
        }
        const Expectation expectation = process(request);
        made.outlook.add(expectation);
        made.breaks_message |= expectation.owed == Owed::InvalidRequest;
    }
    made.after = std::exchange(state_, now);
    return true;
}

void Responder::forget_blocks() {
    blocks_.clear();
    looked_at_ = gone_ = 0;
}

// The first requests no longer wait, and the state is that after them.
void Responder::forget_from_blocks(std::size_t count) {
    if (count > looked_at_) {
        forget_blocks();
        return;
    }
    looked_at_ -= count;
    for (gone_ += count; gone_ >= block_size; gone_ -= block_size)
        blocks_.pop_front();
}

// Returns the first request for which `fits` has an expectation, in a block for which `may` is true. `fits`
// processes a request.
template <typename May, typename Fits>
std::optional<Responder::Found> Responder::find(May may, Fits fits) {
    const State now = state_;
    std::optional<Found> found;
    std::size_t index = 0;
    for (std::size_t i = 0; !found && look_ahead(i); ++i) {
        const Block& block = blocks_[i];
        const std::size_t end = index + block.requests - (i == 0 ? gone_ : 0);
        if (may(block)) {
            state_ = i == 0 ? now : block.before;
            for (std::size_t one = index; !found && one < end; ++one)
                if (auto expectation = fits(waiting_[one]))
                    found = {.index = one, .expectation = *expectation};
            state_ = now;
        }
        index = end;
    }
    return found;
}

std::optional<Responder::Found> Responder::find_explaining(const ObservedPacket& sent) {
    const ExtendedPsn place = sequence_.extend(sent.psn);
    return find([&](const Block& block) { return block.outlook.may_explain(sent, place); },
                [&](const ObservedPacket& request) {
                    auto expectation = process(request);
                    return explains(expectation, sent) ? std::optional(expectation) : std::nullopt;
                });
}

// Of a damaged request, the expectation is as if it had arrived undamaged.
std::optional<Responder::Found> Responder::find_damaged(const ObservedPacket& sent) {
    const ExtendedPsn place = sequence_.extend(sent.psn);
    return find([&](const Block& block) { return block.of_damaged.may_explain(sent, place); },
                [&](const ObservedPacket& request) -> std::optional<Expectation> {
                    if (request.is_damaged) {
                        const State before = state_;
                        auto expectation = process_as_whole(request);
                        if (explains(expectation, sent))
                            return expectation;
                        state_ = before;
                    }
                    process(request);
                    return std::nullopt;
                });
}

std::optional<Responder::Found> Responder::find_owing(Owed owed) {
    return find(
        [&](const Block& block) {
            const Outlook& outlook = block.outlook;
            return owed == Owed::Data ? !outlook.data.empty() || !outlook.copies_data.empty()
                   : owed == Owed::SequenceNak ? !outlook.gaps.empty()
                                               : block.breaks_message;
        },
        [&](const ObservedPacket& request) {
            auto expectation = process(request);
            return expectation.owed == owed ? std::optional(expectation) : std::nullopt;
        });
}

std::optional<Responder::Found> Responder::find_refusable() {
    return find(
        [&](const Block& block) {
            return !block.outlook.refusals.empty() || !block.outlook.copies_data.empty();
        },
        [&](const ObservedPacket& request) {
            auto expectation = process(request);
            return may_refuse(expectation) ? std::optional(expectation) : std::nullopt;
        });
}

}  // namespace conformance

// Assigns responses to requests.
#include "trace/conformance/responder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace conformance {
namespace {

/// Minimum time before a response counts as missing.
constexpr std::int64_t least_grace_ns = 500'000'000;

}  // namespace

Responder::Responder(const HalfConnectionFacts& facts, HalfFindings& findings, Keep keep)
    : facts_(facts), findings_(findings), keep_(keep), msn_is_known_(facts.is_told) {
    state_.is_synchronised = facts.first_psn.has_value();
    began_in_the_middle_ = !state_.is_synchronised;
    if (facts.first_psn)
        sequence_ = Sequence(*facts.first_psn);
}

void Responder::response(const ObservedPacket& sent) {
    has_responded_ = true;
    silent_since_.reset();
    if (!state_.is_synchronised) {
        synchronise(sent);
        return;
    }
    if (!facts_.is_told && sequence_.extend(sent.psn) < 0) {
        began_in_the_middle_ = true;  // responds to a request from before the capture
        return;
    }
    if (continue_reading(sent))
        return;
    if (is_judged_dead_)
        return;  // later responses add no information
    if (const auto found = find_explaining(sent))
        commit(*found, sent);
    else
        unexplained(sent);
}

// Without the beginning, the first ACK of a captured request determines the responder's state, or the
// first NAK, which names the PSN that it expects.
void Responder::synchronise(const ObservedPacket& sent) {
    const bool is_nak = sent.is_sequence_nak();
    if (!is_nak && (!sent.is_ack() || !waiting_with_.contains(sent.psn.value())))
        return;
    const auto answered = std::ranges::find_if(waiting_, [&](const ObservedPacket& request) {
        return !request.is_damaged && (is_nak ? request.psn.is_after(sent.psn)
                                              : request.psn == sent.psn && !request.wants_data());
    });
    if (answered == waiting_.end())
        return;
    if (is_nak) {
        sequence_ = Sequence(sent.psn);
        state_.nak_sent = true;
        state_.is_open_known = false;
        last_nak_ = sent.frame;
    } else {
        sequence_ = Sequence(sent.psn + 1);
        if (!answered->opcode->ends_message())
            state_.open = answered->opcode->operation;
    }
    forget_blocks();
    state_.is_synchronised = true;
    state_.msn = sent.aeth.msn;
    msn_is_known_ = true;
    const auto count = answered - waiting_.begin() + 1;
    for (auto known = waiting_.begin(); known != waiting_.begin() + count; ++known)
        record({.request = *known,
                .of = Class::Unknown,
                .expected = {},
                .opens_gap = false,
                .answer = std::nullopt});
    forget(static_cast<std::size_t>(count));
}

bool Responder::continue_reading(const ObservedPacket& sent) {
    if (!reading_ || !sent.is(wire::Operation::RdmaReadResponse) ||
        sequence_.extend(sent.psn) != reading_->next)
        return false;
    check_position(sent);
    if (sent.opcode->has(wire::header::aeth))
        check_msn(sent, reading_->msn_low + 1, reading_->msn_high);
    covers(reading_->next);
    if (++reading_->next == reading_->end)
        reading_.reset();
    return true;
}

void Responder::commit(const Found& found, const ObservedPacket& sent) {
    // A damaged request that was answered is taken as undamaged.
    const bool is_as_seen =
        found.expectation.arrival.request.is_damaged == waiting_[found.index].is_damaged;
    const bool is_again =
        found.expectation.owed == Owed::Data && found.expectation.arrival.of == Class::Duplicate;
    if (reading_ && !is_again) {
        Expectation left;
        left.arrival.request = reading_->request;
        left.owed = Owed::Data;
        missing(left);
    }
    reading_.reset();
    for (std::size_t i = 0; i < found.index; ++i) {
        const Expectation expectation = pass_over(waiting_[i]);
        if (expectation.is_required && expectation.owed != Owed::Ack &&
            expectation.owed != Owed::DuplicateAck)
            missing(expectation);
    }
    Expectation last = process(found.expectation.arrival.request);
    enter(last);
    const State processed = state_;
    settle(last, sent);
    record(last.arrival);
    if (!is_as_seen || state_ != processed)
        forget_blocks();
    take(found.index + 1);
    given_up_msn_.reset();
}

void Responder::take(std::size_t count) {
    forget(count);
    sequence_.move_to(state_.expected);
    // A responder keeps the results of as many READs and ATOMICs as it has resources: 16 to 128.
    constexpr std::size_t most_executed = 256;
    if (keep_ != Keep::All && state_.executed > forgotten_ + 2 * most_executed) {
        const auto gone = static_cast<std::ptrdiff_t>(state_.executed - forgotten_ - most_executed);
        executed_.erase(executed_.begin(), executed_.begin() + gone);
        forgotten_ += static_cast<std::size_t>(gone);
    }
}

// Gives up the older half of the requests if too many wait: half, because the next response is then
// compared with all that wait. Without any response, none is expected soon.
void Responder::limit() {
    constexpr std::size_t most = 16'384;
    constexpr std::size_t most_of_a_silent_one = 256;
    if (waiting_.size() <= (has_responded_ ? most : most_of_a_silent_one))
        return;
    const std::size_t half = waiting_.size() / 2;
    if (!given_up_msn_)
        given_up_msn_ = state_.msn;
    for (std::size_t i = 0; i < half; ++i) {
        const Expectation expectation = pass_over(waiting_[i]);
        if (expectation.is_required && !silent_since_)
            silent_since_ = waiting_[i];
    }
    take(half);
}

void Responder::record(const Arrival& arrival) {
    counts_.duplicates += arrival.of == Class::Duplicate ? 1 : 0;
    counts_.gaps += arrival.opens_gap ? 1 : 0;
    counts_.refused_as_not_ready += arrival.answer && arrival.answer->is_rnr_nak() ? 1 : 0;
    if (keep_ != Keep::Window)
        arrivals_.push_back(arrival);
}

void Responder::forget_before(std::uint64_t frame) {
    while (!arrivals_.empty() && arrivals_.front().request.frame < frame)
        arrivals_.pop_front();
}

void Responder::forget(std::size_t count) {
    forget_from_blocks(count);
    for (; count > 0; --count) {
        const auto same = waiting_with_.find(waiting_.front().psn.value());
        if (--same->second == 0)
            waiting_with_.erase(same);
        waiting_.pop_front();
    }
}

void Responder::settle(Expectation& expectation, const ObservedPacket& sent) {
    expectation.arrival.answer = sent;
    judge_late_acks(expectation, sent);
    if (sent.is_rnr_nak() || sent.is_fatal_nak()) {
        state_ = expectation.before;
        state_.nak_sent = false;
        state_.rnr_sent = sent.is_rnr_nak();
        state_.is_dead = sent.is_fatal_nak();
        check_msn(sent, state_.msn, expectation.msn_high);
        covers(expectation.place - 1);
        return;
    }
    switch (expectation.owed) {
        case Owed::Data:
            settle_data(expectation, sent);
            return;
        case Owed::SequenceNak:
            state_.nak_sent = true;
            last_nak_ = sent.frame;
            check_msn(sent, state_.msn, state_.msn);
            covers(expectation.before.expected - 1);
            return;
        case Owed::Ack:
        case Owed::DuplicateAck:
            note_late_ack(expectation, sent);
            check_msn(sent, expectation.msn_low, expectation.msn_high);
            covers(sequence_.extend(sent.psn));
            return;
        case Owed::Nothing:
        case Owed::InvalidRequest:
            return;
    }
}

void Responder::settle_data(const Expectation& expectation, const ObservedPacket& sent) {
    if (sent.is(wire::Operation::AtomicAcknowledge) && expectation.executed != 0) {
        auto& value = executed_[expectation.executed - forgotten_ - 1].value;
        if (value && *value != sent.value)
            report(Code::AtomicReplay, sent,
                   fmt::format("the retransmitted ATOMIC with PSN {:#08x} returned {:#x}, but the "
                               "first one returned {:#x}",
                               sent.psn, sent.value, *value),
                   {expectation.arrival.request.frame});
        if (!value)
            value = sent.value;
    }
    reading_ = {.request = expectation.arrival.request,
                .first = expectation.place,
                .next = expectation.place,
                .end = expectation.place + expectation.psns,
                .msn_low = expectation.msn_low,
                .msn_high = expectation.msn_high};
    if (sent.is(wire::Operation::RdmaReadResponse))
        check_position(sent);
    // The MSN may include a READ once it was accepted, and must include it in the last response.
    const bool is_last = expectation.psns == 1;
    check_msn(sent, expectation.msn_low + (is_last ? 1 : 0), expectation.msn_high);
    covers(expectation.place);
    if (++reading_->next == reading_->end)
        reading_.reset();
}

void Responder::covers(ExtendedPsn place) {
    acknowledged_ = std::max(acknowledged_.value_or(place), place);
}

void Responder::finish(std::int64_t end_ns) {
    const std::int64_t grace =
        std::max(least_grace_ns, 2 * facts_.retry.ack_timeout_ns.value_or(0));
    const auto is_late = [&](const ObservedPacket& request) {
        return end_ns - request.t_ns > grace;
    };
    for (const LateAck& late : late_acks_)
        report_missing_ack(late);
    if (silent_since_ && !is_late(*silent_since_))
        silent_since_.reset();
    for (const ObservedPacket& request : waiting_) {
        const Expectation expectation = pass_over(request);
        if (expectation.is_required && is_late(request) && !silent_since_)
            silent_since_ = request;
    }
    if (reading_ && is_late(reading_->request) && !silent_since_)
        silent_since_ = reading_->request;
    if (ahead_)
        note_missing(state_.expected, ahead_->newest + 1, ahead_->frame);
}

}  // namespace conformance

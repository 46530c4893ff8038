// Expected responses to a request.
#include <algorithm>
#include <iterator>
#include <span>

#include "trace/conformance/responder.hpp"

namespace conformance {

Responder::Expectation Responder::process(const ObservedPacket& request) {
    Expectation expectation;
    expectation.before = state_;
    Arrival& arrival = expectation.arrival;
    arrival.request = request;
    if (request.is_damaged) {
        arrival.of = Class::Damaged;
        return expectation;
    }
    if (!state_.is_synchronised || state_.is_dead)
        return expectation;
    expectation.place = sequence_.extend(request.psn);
    arrival.expected = sequence_.psn_of(state_.expected);
    expectation.msn_low = expectation.msn_high = state_.msn;
    if (expectation.place < state_.expected) {
        duplicate(request, expectation);
        expectation.is_required &= !request.is_copy;
    } else if (expectation.place == state_.expected) {
        in_order(request, expectation);
    } else {
        arrival.of = Class::OutOfSequence;
        if (state_.nak_sent)
            return expectation;
        // After an RNR NAK the responder waits for the same request, so another NAK is optional.
        expectation.owed = Owed::SequenceNak;
        expectation.is_required = !state_.rnr_sent;
        arrival.opens_gap = true;
        state_.nak_sent = expectation.is_required;
    }
    return expectation;
}

// After process(): a READ or an ATOMIC may be repeated. Of requests that are only looked at, none is
// remembered.
void Responder::enter(const Expectation& expectation) {
    if (expectation.arrival.of != Class::InOrder || expectation.owed != Owed::Data)
        return;
    executed_.resize(expectation.before.executed - forgotten_);
    executed_.push_back({.first = expectation.place,
                         .psns = expectation.psns,
                         .msn_before = expectation.before.msn,
                         .value = std::nullopt});
}

Responder::Expectation Responder::pass_over(const ObservedPacket& request) {
    Expectation expectation = process(request);
    enter(expectation);
    record(expectation.arrival);
    return expectation;
}

// As if the request had arrived undamaged.
Responder::Expectation Responder::process_as_whole(ObservedPacket damaged) {
    damaged.is_damaged = false;
    return process(damaged);
}

void Responder::in_order(const ObservedPacket& request, Expectation& expectation) {
    expectation.arrival.of = Class::InOrder;
    state_.nak_sent = state_.rnr_sent = false;
    if (breaks_message(request)) {
        expectation.owed = Owed::InvalidRequest;
        expectation.is_required = true;
        state_.is_dead = true;
        return;
    }
    const std::uint32_t psns = request.psn_count(facts_.path_mtu);
    state_.expected += psns;
    state_.is_open_known = true;
    state_.open =
        request.opcode->ends_message() ? std::nullopt : std::optional(request.opcode->operation);
    if (request.opcode->ends_message())
        state_.msn = (state_.msn + 1) & wire::Psn::mask;
    expectation.msn_high = state_.msn;
    if (!request.wants_data()) {
        expectation.owed = Owed::Ack;
        expectation.is_required = request.ack_req;
        expectation.msn_low = state_.msn;
        return;
    }
    expectation.executed = ++state_.executed;
    expectation.owed = Owed::Data;
    expectation.is_required = true;
    expectation.psns = psns;
}

void Responder::duplicate(const ObservedPacket& request, Expectation& expectation) {
    expectation.arrival.of = Class::Duplicate;
    if (!request.wants_data()) {
        expectation.owed = Owed::DuplicateAck;
        expectation.is_required = request.ack_req;
        return;
    }
    expectation.owed = Owed::Data;
    expectation.psns = request.psn_count(facts_.path_mtu);
    const auto valid =
        std::span(executed_).first(std::min(executed_.size(), state_.executed - forgotten_));
    const auto behind = std::ranges::upper_bound(valid, expectation.place, {}, &Executed::first);
    if (behind == valid.begin())
        return;
    const Executed& one = *std::prev(behind);
    if (expectation.place >= one.first + one.psns)
        return;
    expectation.executed = forgotten_ + static_cast<std::size_t>(behind - valid.begin());
    expectation.is_required = true;
    expectation.msn_low = one.msn_before;
}

bool Responder::breaks_message(const ObservedPacket& request) const {
    if (!state_.is_open_known)
        return false;
    if (request.opcode->starts_message())
        return state_.open.has_value();
    return state_.open != request.opcode->operation;
}

bool Responder::may_refuse(const Expectation& expectation) {
    return (expectation.arrival.of == Class::InOrder && expectation.owed != Owed::InvalidRequest) ||
           (expectation.arrival.of == Class::Duplicate && expectation.owed == Owed::Data);
}

bool Responder::explains(const Expectation& expectation, const ObservedPacket& sent) const {
    const ExtendedPsn place = sequence_.extend(sent.psn);
    const ExtendedPsn begin = expectation.place;
    if (may_refuse(expectation)) {
        if (sent.is_rnr_nak() && place == begin)
            return true;
        if (sent.is_fatal_nak() && place >= begin && place < begin + expectation.psns)
            return true;
    }
    const bool is_atomic = expectation.arrival.request.is(wire::Operation::CmpSwap) ||
                           expectation.arrival.request.is(wire::Operation::FetchAdd);
    switch (expectation.owed) {
        case Owed::Nothing:
            return false;
        case Owed::Ack:
            return sent.is_ack() && place == begin;
        case Owed::DuplicateAck:
            // "Of the last request that was completed": it need not be the last one that arrived.
            return sent.is_ack() && place >= begin && place < expectation.before.expected;
        case Owed::Data:
            return place == begin && sent.is(is_atomic ? wire::Operation::AtomicAcknowledge
                                                       : wire::Operation::RdmaReadResponse);
        case Owed::SequenceNak:
            return sent.is_sequence_nak() && place == expectation.before.expected;
        case Owed::InvalidRequest:
            return sent.is_fatal_nak() && place == begin;
    }
    return false;
}

}  // namespace conformance

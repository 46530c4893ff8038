// Findings about responses that no request explains.
#include <algorithm>

#include <fmt/format.h>

#include "trace/conformance/responder.hpp"

namespace conformance {
namespace {

// Minimum timeout to assume if the requester's timer is unknown.
constexpr std::int64_t usual_timeout_ns = 50'000'000;

}  // namespace

void Responder::report(Code code, const ObservedPacket& at, std::string text,
                       std::vector<std::uint64_t> because) {
    findings_.add({.code = code,
                   .frame = at.frame,
                   .t_ns = at.t_ns,
                   .text = std::move(text),
                   .because = std::move(because)});
}

void Responder::unexplained(Scan& scanned, const State& later, const ObservedPacket& sent) {
    if (outlook_->has_damage && answers_damaged(sent))
        return;
    if (later.is_dead)
        answer_of_the_dead(scanned, later, sent);
    else
        wrong(scanned, later, sent);
}

void Responder::wrong(Scan& scanned, const State& later, const ObservedPacket& sent) {
    if (go_past_missing(later, sent))
        return response(sent);
    note_ahead(later, sent);
    if (sent.is_ack())
        wrong_ack(later, sent);
    else if (sent.is_data())
        wrong_data(scanned, sent);
    else
        wrong_nak(scanned, later, sent);
}

void Responder::answer_of_the_dead(const Scan& scanned, const State& later,
                                   const ObservedPacket& sent) {
    is_judged_dead_ = true;
    const auto broken = std::ranges::find(scanned, Owed::InvalidRequest, &Expectation::owed);
    if (broken != scanned.end()) {
        missing(*broken);
        for (const Expectation& expectation : scanned)
            pass_over(expectation);
        state_ = later;
        take(scanned.size());
        return;
    }
    report(Code::AnswerAfterError, sent,
           fmt::format("{} with PSN {:#08x} after a NAK that ended the queue pair",
                       short_name(*sent.opcode), sent.psn));
}

// If the response fits a damaged request, the responder acted on that request.
bool Responder::answers_damaged(const ObservedPacket& sent) {
    const State before = state_;
    Scan scanned;
    for (const ObservedPacket& request : waiting_) {
        const State state = state_;
        if (request.is_damaged) {
            scanned.push_back(process_as_whole(request));
            if (explains(scanned.back(), sent)) {
                report(Code::IcrcAnswered, sent,
                       fmt::format("{} responds to the packet with PSN {:#08x}, which arrived with "
                                   "a wrong ICRC",
                                   short_name(*sent.opcode), request.psn),
                       {request.frame});
                commit(scanned, sent);
                return true;
            }
            scanned.pop_back();
            state_ = state;
        }
        scanned.push_back(process(request));
    }
    state_ = before;
    return false;
}

void Responder::wrong_ack(const State& later, const ObservedPacket& sent) {
    const ExtendedPsn place = sequence_.extend(sent.psn);
    if (place >= later.expected) {
        report(Code::AckBeyond, sent,
               fmt::format("an ACK of PSN {:#08x}, but the responder still expects PSN {:#08x}",
                           sent.psn, sequence_.psn_of(later.expected)));
        return;
    }
    // An ACK may be repeated to update the credits (9.7.7.2).
    if (place == acknowledged_ || place == state_.expected - 1) {
        check_msn(sent, state_.msn, later.msn);
        return;
    }
    report(Code::AckPsn, sent,
           fmt::format("an ACK of PSN {:#08x}, although PSN {:#08x} was already acknowledged and "
                       "no duplicate arrived",
                       sent.psn, sequence_.psn_of(acknowledged_.value_or(later.expected - 1))));
}

void Responder::wrong_data(Scan& scanned, const ObservedPacket& sent) {
    const bool is_read = sent.is(wire::Operation::RdmaReadResponse);
    if (is_read && reading_) {
        report(Code::ReadPsn, sent,
               fmt::format("a READ response with PSN {:#08x} instead of PSN {:#08x}", sent.psn,
                           sequence_.psn_of(reading_->next)),
               {reading_->request.frame});
        if (++reading_->next == reading_->end)
            reading_.reset();
        return;
    }
    for (std::size_t i = 0; is_read && i < scanned.size(); ++i) {
        if (scanned[i].owed != Owed::Data)
            continue;
        report(Code::ReadPsn, sent,
               fmt::format("a READ response with PSN {:#08x} to a request with PSN {:#08x}",
                           sent.psn, scanned[i].arrival.request.psn),
               {scanned[i].arrival.request.frame});
        ObservedPacket corrected = sent;
        corrected.psn = scanned[i].arrival.request.psn;
        scanned.clear();
        if (scan(corrected, scanned))
            commit(scanned, corrected);
        return;
    }
    report(Code::ResponseWithoutRequest, sent,
           fmt::format("{} with PSN {:#08x}, which no request asked for", short_name(*sent.opcode),
                       sent.psn));
}

void Responder::wrong_nak(Scan& scanned, const State& later, const ObservedPacket& sent) {
    for (const Expectation& expectation : scanned) {
        const bool is_due = sent.is_sequence_nak() ? expectation.owed == Owed::SequenceNak
                                                   : may_refuse(expectation);
        if (!is_due)
            continue;
        ObservedPacket corrected = sent;
        corrected.psn = sequence_.psn_of(sent.is_sequence_nak() ? expectation.before.expected
                                                                : expectation.place);
        report(Code::NakPsn, sent,
               fmt::format("a NAK for PSN {:#08x} where the responder expects PSN {:#08x}",
                           sent.psn, corrected.psn),
               {expectation.arrival.request.frame});
        Scan again;
        if (scan(corrected, again))
            commit(again, corrected);
        return;
    }
    if (sent.is_sequence_nak() && later.nak_sent && last_nak_ != 0)
        report(Code::NakRepeated, sent,
               fmt::format("a second NAK for PSN {:#08x} before that packet arrived", sent.psn),
               {last_nak_});
    else
        report(Code::NakWithoutCause, sent,
               fmt::format("{} for PSN {:#08x}, but no packet that arrived requires it",
                           sent.aeth.text(), sent.psn));
}

void Responder::missing(const Expectation& expectation) {
    const ObservedPacket& request = expectation.arrival.request;
    if (expectation.owed == Owed::SequenceNak)
        report(Code::MissingNak, request,
               fmt::format("PSN {:#08x} arrived while PSN {:#08x} was missing, and no NAK was sent",
                           request.psn, expectation.arrival.expected));
    else if (expectation.owed == Owed::InvalidRequest)
        report(Code::MissingNak, request,
               fmt::format(
                   "{} with PSN {:#08x} does not fit the message before it, and no NAK was sent",
                   short_name(*request.opcode), request.psn));
    else
        report(Code::MissingResponse, request,
               fmt::format(
                   "{} with PSN {:#08x} did not get its full response before the next response",
                   short_name(*request.opcode), request.psn));
}

void Responder::note_late_ack(const Expectation& expectation, const ObservedPacket& sent) {
    const ObservedPacket& request = expectation.arrival.request;
    if (!expectation.is_required || expectation.owed != Owed::Ack ||
        waiting_with_.at(request.psn.value()) == 1)
        return;
    const std::int64_t timeout = facts_.retry.ack_timeout_ns.value_or(usual_timeout_ns);
    const auto copy = std::ranges::find_if(waiting_, [&](const ObservedPacket& other) {
        return other.frame > request.frame && other.psn == request.psn &&
               other.t_ns - request.t_ns >= timeout;
    });
    if (copy != waiting_.end())
        late_acks_.push_back({.request = request, .copy = copy->frame, .ack = sent.frame});
}

// A responder processes requests in order: once it answers a later one, it has passed the copy.
void Responder::judge_late_acks(const Expectation& expectation, const ObservedPacket& sent) {
    std::erase_if(late_acks_, [&](const LateAck& late) {
        if (expectation.owed == Owed::DuplicateAck && !sent.psn.is_before(late.request.psn))
            return true;
        if (expectation.arrival.request.frame < late.copy)
            return false;
        report_missing_ack(late);
        return true;
    });
}

void Responder::report_missing_ack(const LateAck& late) {
    report(Code::MissingAck, late.request,
           fmt::format("PSN {:#08x} requested an ACK, but none was sent until the requester "
                       "retransmitted it",
                       late.request.psn),
           {late.copy, late.ack});
}

void Responder::check_msn(const ObservedPacket& sent, std::uint32_t low, std::uint32_t high) {
    constexpr std::uint32_t mask = wire::Psn::mask;
    if (!sent.opcode->has(wire::header::aeth))
        return;
    low = given_up_msn_.value_or(low);
    if (!msn_is_known_) {
        msn_is_known_ = true;
        msn_base_ = (sent.aeth.msn - high) & mask;
        // An MSN within the range that a READ allows is valid.
        if (((sent.aeth.msn - low) & mask) <= ((high - low) & mask))
            msn_base_ = 0;
        began_in_the_middle_ |= msn_base_ != 0 && missing_.psns == 0;
    }
    const std::uint32_t msn = (sent.aeth.msn - msn_base_) & mask;
    const bool is_right = ((msn - low) & mask) <= ((high - low) & mask);
    const std::uint32_t offset = is_right ? 0 : (msn - high) & mask;
    if (offset != 0 && offset != msn_offset_)
        report(Code::Msn, sent,
               fmt::format("{} with PSN {:#08x} has MSN {}, but {} messages are complete",
                           short_name(*sent.opcode), sent.psn, sent.aeth.msn,
                           (high + msn_base_) & mask));
    msn_offset_ = offset;
}

void Responder::check_position(const ObservedPacket& sent) {
    const bool is_first = reading_->next == reading_->first;
    const bool is_last = reading_->next + 1 == reading_->end;
    const auto due = is_first ? (is_last ? wire::Position::Only : wire::Position::First)
                              : (is_last ? wire::Position::Last : wire::Position::Middle);
    if (sent.opcode->position != due)
        report(Code::ReadOpcode, sent,
               fmt::format("{} with PSN {:#08x}, packet {} of {} of the response",
                           short_name(*sent.opcode), sent.psn, reading_->next - reading_->first + 1,
                           reading_->end - reading_->first),
               {reading_->request.frame});
}

}  // namespace conformance

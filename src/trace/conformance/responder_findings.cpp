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

// All requests that wait have been looked at.
void Responder::unexplained(const ObservedPacket& sent) {
    if (answers_damaged(sent))
        return;
    const State after = later();
    if (after.is_dead)
        return answer_of_the_dead(sent);
    if (go_past_missing(after, sent))
        return response(sent);
    note_ahead(after, sent);
    if (sent.is_ack())
        wrong_ack(after, sent);
    else if (sent.is_data())
        wrong_data(sent);
    else
        wrong_nak(after, sent);
}

void Responder::answer_of_the_dead(const ObservedPacket& sent) {
    is_judged_dead_ = true;
    if (const auto broken = find_owing(Owed::InvalidRequest)) {
        missing(broken->expectation);
        for (const ObservedPacket& request : waiting_)
            pass_over(request);
        take(waiting_.size());
        return;
    }
    report(Code::AnswerAfterError, sent,
           fmt::format("{} with PSN {:#08x} after a NAK that ended the queue pair",
                       short_name(*sent.opcode), sent.psn));
}

// If the response fits a damaged request, the responder acted on that request.
bool Responder::answers_damaged(const ObservedPacket& sent) {
    const auto found = find_damaged(sent);
    if (!found)
        return false;
    const ObservedPacket& request = found->expectation.arrival.request;
    report(
        Code::IcrcAnswered, sent,
        fmt::format("{} responds to the packet with PSN {:#08x}, which arrived with a wrong ICRC",
                    short_name(*sent.opcode), request.psn),
        {request.frame});
    commit(*found, sent);
    return true;
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
           fmt::format("an ACK of PSN {:#08x}, although no copy of that request arrived and {}",
                       sent.psn,
                       acknowledged_ ? fmt::format("PSN {:#08x} was already acknowledged",
                                                   sequence_.psn_of(*acknowledged_))
                                     : fmt::format("the responder expects PSN {:#08x}",
                                                   sequence_.psn_of(later.expected))));
}

void Responder::wrong_data(const ObservedPacket& sent) {
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
    if (const auto found = is_read ? find_owing(Owed::Data) : std::nullopt) {
        const ObservedPacket& request = found->expectation.arrival.request;
        report(Code::ReadPsn, sent,
               fmt::format("a READ response with PSN {:#08x} to a request with PSN {:#08x}",
                           sent.psn, request.psn),
               {request.frame});
        commit_corrected(sent, request.psn);
        return;
    }
    report(Code::ResponseWithoutRequest, sent,
           fmt::format("{} with PSN {:#08x}, which no request asked for", short_name(*sent.opcode),
                       sent.psn));
}

// Takes the response for the one that was meant.
void Responder::commit_corrected(const ObservedPacket& sent, wire::Psn psn) {
    ObservedPacket corrected = sent;
    corrected.psn = psn;
    if (const auto found = find_explaining(corrected))
        commit(*found, corrected);
}

void Responder::wrong_nak(const State& later, const ObservedPacket& sent) {
    const bool is_sequence = sent.is_sequence_nak();
    if (const auto found = is_sequence ? find_owing(Owed::SequenceNak) : find_refusable()) {
        const Expectation& expectation = found->expectation;
        const wire::Psn psn =
            sequence_.psn_of(is_sequence ? expectation.before.expected : expectation.place);
        report(Code::NakPsn, sent,
               fmt::format("a NAK for PSN {:#08x} where the responder expects PSN {:#08x}",
                           sent.psn, psn),
               {expectation.arrival.request.frame});
        commit_corrected(sent, psn);
        return;
    }
    if (is_sequence && later.nak_sent && last_nak_ != 0)
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
        return other.frame > request.frame && other.psn == request.psn && !other.is_damaged &&
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

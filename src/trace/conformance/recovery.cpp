#include "trace/conformance/recovery.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "trace/conformance/arrived_responses.hpp"

namespace conformance {
namespace {

bool is_within(wire::Psn psn, wire::Psn first, wire::Psn last) {
    return distance(first, psn) >= 0 && distance(psn, last) >= 0;
}

class Analysis {
  public:
    Analysis(const std::deque<Step>& steps, const Responder& responder, const Requester& requester)
        : responder_(responder), requester_(requester), responses_(steps) {
        for (const Arrival& arrival : responder.arrivals()) {
            const std::uint32_t psn = arrival.request.psn.value();
            if (arrival.of == Class::InOrder && !is_refused(arrival))
                accepted_[psn].push_back(arrival.request.frame);
            if (arrival.of == Class::Duplicate)
                duplicates_[psn].push_back(&arrival);
            if (arrival.opens_gap)
                gaps_[arrival.expected.value()].push_back(&arrival);
        }
    }

    Recovery of(const Step& step) const {
        Recovery recovery;
        recovery.packet = step.seen;
        recovery.is_request = step.kind == StepKind::RequestSent;
        if (recovery.is_request)
            request(recovery);
        else
            response(recovery);
        return recovery;
    }

  private:
    static bool is_refused(const Arrival& arrival) {
        return arrival.answer && (arrival.answer->is_rnr_nak() || arrival.answer->is_fatal_nak());
    }

    bool was_accepted_before(wire::Psn psn, std::uint64_t frame) const {
        const auto found = accepted_.find(psn.value());
        return found != accepted_.end() && found->second.front() < frame;
    }
    bool was_accepted_behind(wire::Psn psn, std::uint64_t frame) const {
        const auto found = accepted_.find(psn.value());
        return found != accepted_.end() && found->second.back() > frame;
    }

    /// Returns the first resend that began after the frame and contains the PSN.
    const Resend* resend_of(wire::Psn psn, std::uint64_t frame) const {
        const auto& resends = requester_.resends();
        const auto after = std::ranges::upper_bound(
            resends, frame, {}, [](const Resend& resend) { return resend.first.frame; });
        const auto found = std::find_if(after, resends.end(), [&](const Resend& resend) {
            return is_within(psn, resend.first.psn, resend.last_psn);
        });
        return found == resends.end() ? nullptr : &*found;
    }

    /// Arrivals by PSN.
    using Arrivals = std::unordered_map<std::uint32_t, std::vector<const Arrival*>>;

    /// Returns the first arrival with this PSN from a frame on; nullptr: there is none.
    static const Arrival* first_of(const Arrivals& arrivals, wire::Psn psn, std::uint64_t frame) {
        const auto found = arrivals.find(psn.value());
        if (found == arrivals.end())
            return nullptr;
        const auto first = std::ranges::lower_bound(
            found->second, frame, {}, [](const Arrival* one) { return one->request.frame; });
        return first == found->second.end() ? nullptr : *first;
    }

    /// Returns the first packet after the gap that a loss opened, before the requester went back.
    const Arrival* gap_of(wire::Psn psn, std::uint64_t frame, std::uint64_t until) const {
        const Arrival* gap = first_of(gaps_, psn, frame);
        return gap != nullptr && gap->request.frame < until ? gap : nullptr;
    }

    void request(Recovery& recovery) const {
        const ObservedPacket& packet = recovery.packet;
        recovery.is_accepted_later = was_accepted_behind(packet.psn, packet.frame);
        if (packet.fate == Fate::Doubled) {
            doubled_request(recovery);
            return;
        }
        if (was_accepted_before(packet.psn, packet.frame)) {
            recovery.prediction = "the responder already had the packet";
            return;
        }
        if (packet.fate == Fate::Changed && changed_request(recovery))
            return;
        const Resend* resend = resend_of(packet.psn, packet.frame);
        if (resend != nullptr)
            take(recovery, *resend);
        const std::uint64_t until = resend == nullptr ? UINT64_MAX : resend->first.frame;
        const Arrival* gap = gap_of(packet.psn, packet.frame, until);
        predict(recovery, gap, resend);
        measure(recovery, gap, resend);
    }

    // Each copy is a request; the later one is a duplicate or out of sequence.
    void doubled_request(Recovery& recovery) const {
        recovery.prediction = "the response is repeated, and no request is retransmitted";
        const Arrival* duplicate =
            first_of(duplicates_, recovery.packet.psn, recovery.packet.frame + 1);
        if (duplicate != nullptr && duplicate->answer)
            recovery.ended_by = duplicate->answer->frame;
    }

    // The receiver cannot detect the change. Returns false if the original is missing nevertheless,
    // because it arrived with another PSN or at another queue pair.
    bool changed_request(Recovery& recovery) const {
        const auto arrival =
            std::ranges::lower_bound(responder_.arrivals(), recovery.packet.copy, {},
                                     [](const Arrival& one) { return one.request.frame; });
        if (arrival == responder_.arrivals().end() ||
            arrival->request.frame != recovery.packet.copy ||
            arrival->request.psn != recovery.packet.psn || arrival->of != Class::InOrder)
            return false;
        const bool is_nak = arrival->answer && arrival->answer->is_fatal_nak();
        if (is_nak)
            recovery.ended_by = arrival->answer->frame;
        recovery.prediction = is_nak ? fmt::format("refused as it arrived: {}",
                                                   arrival->answer->aeth.nak_name().value_or("NAK"))
                                     : "accepted as it arrived";
        return true;
    }

    static void take(Recovery& recovery, const Resend& resend) {
        recovery.resend = resend;
        if (resend.ended_by)
            recovery.ended_by = resend.ended_by->frame;
    }

    static void predict(Recovery& recovery, const Arrival* gap, const Resend* resend) {
        const wire::Psn psn = recovery.packet.psn;
        if (gap != nullptr) {
            recovery.behind = gap->request.frame;
            if (!gap->answer) {
                recovery.predicted = GoBack::Nak;
                recovery.prediction =
                    fmt::format("PSN {:#08x} arrives after the gap", gap->request.psn);
                return;
            }
            recovery.nak = gap->answer->frame;
            recovery.nak_copy = gap->answer->copy;
            const bool arrives = gap->answer->fate != Fate::Lost &&
                                 gap->answer->fate != Fate::Corrupted &&
                                 gap->answer->fate != Fate::Changed;
            recovery.predicted = arrives ? GoBack::Nak : GoBack::Timeout;
            recovery.prediction =
                arrives ? fmt::format("PSN {:#08x} arrives after the gap", gap->request.psn)
                        : "the NAK was lost, and a NAK is not repeated";
            return;
        }
        if (resend != nullptr && resend->asked_by && resend->first.psn != psn) {
            recovery.predicted = resend->cause;
            recovery.prediction =
                fmt::format("retransmitted together with PSN {:#08x} before it", resend->first.psn);
            return;
        }
        if (resend != nullptr && resend->cause == GoBack::RnrNak) {
            recovery.predicted = GoBack::RnrNak;
            recovery.prediction = "the responder was not ready";
            return;
        }
        recovery.predicted = GoBack::Timeout;
        recovery.prediction =
            "no later packet reveals the loss, or the NAK for this gap was already sent";
    }

    static void measure(Recovery& recovery, const Arrival* gap, const Resend* resend) {
        if (gap != nullptr && gap->answer)
            recovery.detection_ns = gap->answer->t_ns - gap->request.t_ns;
        if (resend == nullptr)
            return;
        if (resend->asked_by)
            recovery.reaction_ns = resend->first.t_ns - resend->asked_by->t_ns;
        else if (resend->cause == GoBack::Timeout)
            recovery.detection_ns = resend->silence_ns;
    }

    void response(Recovery& recovery) const {
        const ObservedPacket& packet = recovery.packet;
        if (packet.fate == Fate::Doubled) {
            recovery.prediction = "the second copy is ignored";
            return;
        }
        const Resend* resend = resend_of(packet.psn, packet.frame);
        const std::uint64_t until = resend == nullptr ? UINT64_MAX : resend->first.frame;
        if (packet.fate == Fate::Changed && arrived_as_answer(packet)) {
            recovery.prediction = "accepted as it arrived";
            return;
        }
        if (responses_.made_unnecessary(packet)) {
            recovery.prediction = "the requester already had the packet";
            return;
        }
        if (const ObservedPacket* other = responses_.substitute(packet, until)) {
            recovery.prediction = packet.fate == Fate::Reordered
                                      ? "it arrives late, or a later response covers it"
                                      : "a later response covers it";
            recovery.ended_by = other->frame;
            return;
        }
        const bool is_implied = packet.is_data() && responses_.go_past(packet, until);
        // After an RNR NAK the responder waits for the same request, and a later one opens a gap.
        const Arrival* gap =
            packet.is_rnr_nak() ? gap_of(packet.psn, packet.frame, until) : nullptr;
        if (gap != nullptr && gap->answer) {
            predict(recovery, gap, resend);
        } else {
            gap = nullptr;
            recovery.predicted = is_implied ? GoBack::ImpliedNak : GoBack::Timeout;
            recovery.prediction =
                is_implied ? "a later response reveals the loss" : "no later response";
        }
        if (resend == nullptr)
            return;
        take(recovery, *resend);
        measure(recovery, gap, resend);
    }

    bool arrived_as_answer(const ObservedPacket& sent) const {
        const ObservedPacket* one = responses_.at(sent.copy);
        return one != nullptr && one->opcode == sent.opcode && one->psn == sent.psn &&
               one->aeth == sent.aeth;
    }

    const Responder& responder_;
    const Requester& requester_;
    std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> accepted_;  // by PSN: frames
    Arrivals gaps_;  // by the PSN that was missing: the packets behind a gap
    Arrivals duplicates_;
    ArrivedResponses responses_;
};

std::vector<std::uint64_t> evidence(const Recovery& recovery) {
    std::vector<std::uint64_t> frames{recovery.packet.frame};
    if (recovery.packet.copy != 0)
        frames.push_back(recovery.packet.copy);
    if (recovery.behind)
        frames.push_back(*recovery.behind);
    if (recovery.nak)
        frames.push_back(*recovery.nak);
    if (recovery.nak_copy != 0)
        frames.push_back(recovery.nak_copy);
    if (recovery.resend) {
        frames.push_back(recovery.resend->first.frame);
        if (recovery.resend->asked_by)
            frames.push_back(recovery.resend->asked_by->frame);
    }
    return frames;
}

// Frames of findings and of their reasons.
std::unordered_set<std::uint64_t> frames_of(const Findings& findings) {
    std::unordered_set<std::uint64_t> frames;
    for (const Finding& finding : findings) {
        frames.insert(finding.frame);
        frames.insert(finding.because.begin(), finding.because.end());
    }
    return frames;
}

bool is_as_specified(const Recovery& recovery) {
    if (recovery.resend)
        return recovery.seen() == recovery.predicted && (recovery.ended_by || recovery.gave_up);
    return recovery.predicted == GoBack::None || recovery.is_accepted_later;
}

}  // namespace

std::string_view name(Verdict verdict) {
    constexpr std::array<std::string_view, 3> names{"as specified", "deviation", "undetermined"};
    return names[static_cast<std::size_t>(verdict)];
}

std::vector<Recovery> recoveries(const std::deque<Step>& steps, std::uint64_t begin,
                                 std::uint64_t end, const Responder& responder,
                                 const Requester& requester) {
    std::vector<Recovery> made;
    std::optional<Analysis> analysis;
    const auto first = std::ranges::lower_bound(steps, begin, {},
                                                [](const Step& step) { return step.seen.frame; });
    for (auto step = first; step != steps.end() && step->seen.frame < end; ++step) {
        const bool was_sent =
            step->kind == StepKind::RequestSent || step->kind == StepKind::ResponseSent;
        if (!was_sent || step->seen.fate == Fate::Passed)
            continue;
        if (!analysis)
            analysis.emplace(steps, responder, requester);
        made.push_back(analysis->of(*step));
    }
    return made;
}

void judge(std::vector<Recovery>& recoveries, const Findings& findings, const Findings& unknowable,
           bool gave_up) {
    const auto found = frames_of(findings);
    const auto doubtful = frames_of(unknowable);
    for (Recovery& recovery : recoveries) {
        recovery.gave_up = gave_up && recovery.resend && !recovery.resend->ended_by;
        const auto frames = evidence(recovery);
        const auto is_any_in = [&](const std::unordered_set<std::uint64_t>& others) {
            return std::ranges::any_of(frames,
                                       [&](std::uint64_t frame) { return others.contains(frame); });
        };
        if (is_any_in(found))
            recovery.verdict = Verdict::Deviation;
        else
            recovery.verdict = is_as_specified(recovery) && !is_any_in(doubtful)
                                   ? Verdict::AsSpecified
                                   : Verdict::Undetermined;
    }
}

}  // namespace conformance

// Runs both models on one half of a connection and derives the expected counters of the hosts.
#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/conformance/checker.hpp"

namespace conformance {

HalfConnection Checker::half_of(const Stream& requests, const Stream* responses) const {
    HalfConnection half;
    half.requests = requests.key;
    half.responses = responses != nullptr ? responses->key : requests.key.reversed(unknown_qpn);
    half.facts = requests.facts;
    half.end_ns = report_.end_ns;
    for (const auto& [side, seen] : requests.seen)
        if (seen.opcode->is_request())
            half.steps.push_back(
                {side == LinkSide::Ingress ? StepKind::RequestSent : StepKind::RequestArrived,
                 seen});
    if (responses != nullptr)
        for (const auto& [side, seen] : responses->seen)
            if (seen.opcode->is_response())
                half.steps.push_back(
                    {side == LinkSide::Ingress ? StepKind::ResponseSent : StepKind::ResponseArrived,
                     seen});
    std::ranges::stable_sort(half.steps, {}, [](const Step& step) { return step.seen.frame; });
    return half;
}

bool Checker::is_judged(const HalfConnection& half, Code code) const {
    const bool one_point = report_.one_point.has_value();
    if (packets_may_be_missing_)
        return !may_be_a_missing_packet(code) && !(one_point && code == Code::AckBeyond);
    if (!one_point || !may_be_a_missing_packet(code))
        return true;
    return report_.one_point->host == (is_responders(code) ? half.requests.dst : half.requests.src);
}

void Checker::check(const Stream& stream, const Stream* peer, std::size_t connection, bool forward,
                    HalfReport& out) {
    const HalfConnection half = half_of(stream, peer);
    if (half.steps.empty())
        return;
    Findings findings;
    Responder responder(half.facts, findings);
    Requester requester(half.facts, findings);
    for (const Step& step : half.steps) {
        switch (step.kind) {
            case StepKind::RequestSent:
                requester.sent(step.seen);
                ++out.requests;
                break;
            case StepKind::RequestArrived:
                responder.request(step.seen);
                break;
            case StepKind::ResponseSent:
                responder.response(step.seen);
                ++out.responses;
                break;
            case StepKind::ResponseArrived:
                requester.arrived(step.seen);
                break;
        }
        out.lost += step.seen.fate == Fate::Lost ? 1 : 0;
        out.doubled += step.seen.fate == Fate::Doubled ? 1 : 0;
        out.reordered += step.seen.fate == Fate::Reordered ? 1 : 0;
        out.corrupted += step.seen.fate == Fate::Corrupted ? 1 : 0;
        out.changed += step.seen.fate == Fate::Changed ? 1 : 0;
    }
    responder.finish(half.end_ns);
    requester.finish(half.end_ns);
    for (const Resend& resend : requester.resends())
        out.repeated += resend.packets;
    out.first_psn = half.facts.first_psn;
    out.is_told = half.facts.is_told;
    out.began_in_the_middle = out.requests != 0 && responder.began_in_the_middle();
    if (responder.silent_since())
        out.silent_since = responder.silent_since()->frame;
    out.gave_up_after = requester.gave_up_after();
    Findings unknowable;
    // Not std::ranges::stable_partition: clang 14 does not compile libstdc++'s.
    const auto unjudged = std::stable_partition(
        findings.begin(), findings.end(),
        [&](const Finding& finding) { return is_judged(half, finding.code); });
    unknowable.assign(std::move_iterator(unjudged), std::move_iterator(findings.end()));
    findings.erase(unjudged, findings.end());
    out.findings = findings.size();
    out.unknowable = unknowable.size();
    std::vector<Recovery> found;
    if (!report_.one_point)
        found = recoveries(half, responder, requester, findings);
    if (!found.empty() && !unknowable.empty()) {
        const std::vector<Recovery> doubtful = recoveries(half, responder, requester, unknowable);
        for (std::size_t i = 0; i < found.size(); ++i)
            if (doubtful[i].verdict == Verdict::Deviation &&
                found[i].verdict == Verdict::AsSpecified)
                found[i].verdict = Verdict::Undetermined;
    }
    for (Recovery& recovery : found) {
        recovery.connection = connection;
        recovery.forward = forward;
        report_.recoveries.push_back(std::move(recovery));
    }
    for (auto [from, to] :
         {std::pair(&findings, &report_.findings), std::pair(&unknowable, &report_.unknowable)})
        for (Finding& finding : *from) {
            finding.connection = connection;
            finding.forward = forward;
            to->push_back(std::move(finding));
        }
    count_models(half, responder, requester);
}

// Names and meanings: drivers/infiniband/sw/rxe/rxe_hw_counters.c of the kernel.
void Checker::count_models(const HalfConnection& half, const Responder& responder,
                           const Requester& requester) {
    // Insert both entries before taking references to them.
    host(half.requests.src, half.requests.network);
    host(half.requests.dst, half.requests.network);
    Counts& asked = host(half.requests.src, half.requests.network).counts;
    Counts& answered = host(half.requests.dst, half.requests.network).counts;
    for (const char* name :
         {"completer_retry_err", "rcvd_seq_err", "rcvd_rnr_err", "retry_exceeded_err"})
        asked.try_emplace(name, 0);
    for (const char* name : {"duplicate_request", "out_of_seq_request", "send_rnr_err"})
        answered.try_emplace(name, 0);
    for (const Arrival& arrival : responder.arrivals()) {
        answered["duplicate_request"] += arrival.of == Class::Duplicate ? 1 : 0;
        answered["out_of_seq_request"] += arrival.opens_gap ? 1 : 0;
        answered["send_rnr_err"] += arrival.answer && arrival.answer->is_rnr_nak() ? 1 : 0;
    }
    for (const Step& step : half.steps)
        if (step.kind == StepKind::ResponseArrived && !step.seen.is_damaged &&
            step.seen.is_rnr_nak())
            ++asked["rcvd_rnr_err"];
    asked["rcvd_seq_err"] += requester.naks_that_acknowledged();
    for (const Resend& resend : requester.resends())
        asked["completer_retry_err"] += resend.cause == Cause::RnrNak ? 0 : 1;
    asked["retry_exceeded_err"] += requester.gave_up_after() ? 1 : 0;
}

}  // namespace conformance

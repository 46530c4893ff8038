// Runs both models on one half of a connection and derives the expected counters of the hosts.
#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/conformance/checker.hpp"

namespace conformance {
namespace {

bool may_be_missing_at_one_point(Code code) {
    return may_be_a_missing_packet(code) || code == Code::AckBeyond;
}

// Whether another order of the packets, or other times, may explain it.
bool depends_on_order(Code code) {
    return may_be_missing_at_one_point(code) || code == Code::RnrEarly;
}

}  // namespace

bool Checker::is_judged(const flow::StreamKey& requests, Code code) const {
    const bool one_point = report_.one_point.has_value();
    if (report_.completeness == Completeness::Lossy)
        return !(one_point ? may_be_missing_at_one_point(code) : may_be_a_missing_packet(code));
    if (!one_point || !may_be_a_missing_packet(code))
        return true;
    return report_.one_point->host == (is_responders(code) ? requests.dst : requests.src);
}

void Checker::report(const HalfStream& stream, std::size_t connection, bool forward,
                     HalfReport& out) {
    HalfCheck& check = *stream.half;
    check.finish(report_.end_ns);
    const HalfCheck::Counts& counts = check.counts();
    if (counts.packets == 0)
        return;
    const Responder& responder = check.responder();
    const Requester& requester = check.requester();
    Findings& findings = check.findings().kept();
    static_cast<HalfCheck::Counts&>(out) = counts;
    if (out.cut != 0)
        return;
    out.repeated = requester.repeated_packets();
    out.copied = requester.copied_packets();
    out.first_psn = stream.facts.first_psn;
    if (out.first_psn && requester.first_psn())
        out.first_psn = requester.first_psn();
    out.is_told = stream.facts.is_told && out.first_psn == stream.facts.first_psn;
    out.began_in_the_middle = out.requests != 0 && responder.began_in_the_middle();
    if (responder.silent_since())
        out.silent_since = responder.silent_since()->frame;
    out.gave_up_after = requester.gave_up_after();
    Findings unknowable;
    // A few of many timers look early if the host stalled before it sent the first copy.
    const auto early = check.findings().counts().find(Code::TimeoutEarly);
    constexpr std::uint64_t share = 100;
    const bool has_stalled =
        early != check.findings().counts().end() &&
        (early->second.kept + early->second.left_out) * share <= requester.timeouts();
    out.out_of_order = check.order_corrections();
    out.missing = responder.missing_requests();
    const auto is_shown = [&](Code code) {
        return is_judged(stream.key, code) && !(has_stalled && code == Code::TimeoutEarly) &&
               !(out.out_of_order != 0 && depends_on_order(code)) &&
               !(out.missing.psns != 0 && may_be_missing_at_one_point(code));
    };
    // Not std::ranges::stable_partition: clang 14 does not compile libstdc++'s.
    const auto unjudged =
        std::stable_partition(findings.begin(), findings.end(),
                              [&](const Finding& finding) { return is_shown(finding.code); });
    unknowable.assign(std::move_iterator(unjudged), std::move_iterator(findings.end()));
    findings.erase(unjudged, findings.end());
    out.findings = findings.size();
    out.unknowable = unknowable.size();
    for (const auto& [code, count] : check.findings().counts()) {
        if (count.left_out == 0)
            continue;
        const bool judged = is_shown(code);
        (judged ? out.findings : out.unknowable) += count.left_out;
        report_.left_out.push_back({code, connection, forward, !judged, count.left_out});
    }
    judge(check.recoveries(), findings, unknowable, requester.gave_up_after().has_value());
    for (Recovery& recovery : check.recoveries()) {
        recovery.connection = connection;
        recovery.forward = forward;
        report_.recoveries.push_back(std::move(recovery));
    }
    report_.recoveries_left_out += check.recoveries_left_out();
    for (auto [from, to] :
         {std::pair(&findings, &report_.findings), std::pair(&unknowable, &report_.unknowable)})
        for (Finding& finding : *from) {
            finding.connection = connection;
            finding.forward = forward;
            to->push_back(std::move(finding));
        }
    count_models(stream.key, check);
}

// Names and meanings: drivers/infiniband/sw/rxe/rxe_hw_counters.c of the kernel.
void Checker::count_models(const flow::StreamKey& requests, const HalfCheck& check) {
    // Insert both entries before taking references to them.
    host(requests.src, requests.network);
    host(requests.dst, requests.network);
    Counts& asked = host(requests.src, requests.network).counts;
    Counts& answered = host(requests.dst, requests.network).counts;
    const Responder::ArrivalCounts& arrivals = check.responder().counts();
    answered["duplicate_request"] += arrivals.duplicates;
    answered["out_of_seq_request"] += arrivals.gaps;
    answered["send_rnr_err"] += arrivals.refused_as_not_ready;
    asked["rcvd_rnr_err"] += check.counts().rnr_naks;
    asked["rcvd_seq_err"] += check.requester().naks_that_acknowledged();
    asked["completer_retry_err"] += check.requester().retries();
    asked["retry_exceeded_err"] += check.requester().gave_up_after() ? 1 : 0;
}

}  // namespace conformance

// Streams into connections: which two belong together, what is known of them, and their check.
#include <algorithm>
#include <unordered_set>

#include "conformance/checker.hpp"
#include "flow/gaps.hpp"

namespace conformance {
namespace {

constexpr flow::PathMtu unknown_mtu = 0;

bool tells_of(const KnownQueuePair& pair, const flow::StreamKey& from_it) {
    return pair.dest_qpn == from_it.dest_qpn && (!pair.host || *pair.host == from_it.src);
}

}  // namespace

Report Checker::finish() {
    settle_fates();
    pair_up();
    settle_facts();
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        const Stream& stream = streams_[i];
        const Stream* peer = stream.peer ? &streams_[*stream.peer] : nullptr;
        const auto first = [](const Stream& one) {
            return one.seen.empty() ? UINT64_MAX : one.seen.front().second.frame;
        };
        if (stream.seen.empty() || (peer != nullptr && first(*peer) < first(stream)))
            continue;  // told of with the other one
        ConnectionReport made;
        made.from = stream.key.src;
        made.to = stream.key.dst;
        made.network = stream.key.network;
        made.to_qpn = stream.key.dest_qpn;
        if (peer != nullptr)
            made.from_qpn = peer->key.dest_qpn;
        made.paired_by = stream.paired_by;
        made.path_mtu = stream.path_mtu;
        const std::size_t number = report_.connections.size();
        check(stream, peer, number, true, made.forward);
        if (peer != nullptr)
            check(*peer, &stream, number, false, made.backward);
        report_.connections.push_back(std::move(made));
    }
    std::ranges::stable_sort(report_.findings, {}, &Finding::frame);
    std::ranges::stable_sort(report_.recoveries, {},
                             [](const Recovery& one) { return one.packet.frame; });
    return std::move(report_);
}

void Checker::pair_up() {
    pair_by_logs();
    pair_by_guess();
}

void Checker::pair_by_logs() {
    for (std::size_t i = 0; i < streams_.size(); ++i)
        for (const KnownQueuePair& pair : known_) {
            if (streams_[i].peer || !tells_of(pair, streams_[i].key))
                continue;
            for (std::size_t j = 0; j < streams_.size(); ++j)
                if (j != i && !streams_[j].peer &&
                    streams_[j].key == streams_[i].key.reversed(pair.qpn)) {
                    join(i, j, PairedBy::RunLog);
                    break;
                }
        }
}

// By the PSNs that responses share with the other's requests.
void Checker::pair_by_guess() {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        if (streams_[i].peer)
            continue;
        std::uint64_t best = 0;
        std::optional<std::size_t> peer;
        for (std::size_t j = i + 1; j < streams_.size(); ++j) {
            const Stream& other = streams_[j];
            if (other.peer || other.key.src != streams_[i].key.dst ||
                other.key.dst != streams_[i].key.src)
                continue;
            const std::uint64_t points = score(streams_[i], other) + score(other, streams_[i]);
            if (points > best) {
                best = points;
                peer = j;
            }
        }
        if (peer)
            join(i, *peer, PairedBy::Guess);
    }
}

std::uint64_t Checker::score(const Stream& stream, const Stream& other) const {
    std::unordered_set<std::uint32_t> asked;
    for (const auto& [side, seen] : stream.seen)
        if (seen.opcode->is_request())
            asked.insert(seen.psn.value());
    return static_cast<std::uint64_t>(std::ranges::count_if(other.seen, [&](const auto& one) {
        return one.second.opcode->is_response() && asked.contains(one.second.psn.value());
    }));
}

void Checker::settle_facts() {
    for (Stream& stream : streams_) {
        for (const KnownQueuePair& pair : known_) {
            if (!tells_of(pair, stream.key) ||
                (stream.peer && streams_[*stream.peer].key.dest_qpn != pair.qpn))
                continue;
            if (stream.path_mtu == unknown_mtu)
                stream.path_mtu = pair.path_mtu;
            if (!stream.facts.first_psn && pair.sq_psn) {
                stream.facts.first_psn = pair.sq_psn;
                stream.facts.is_told = true;
            }
            // The queue pair's own word, not rounded.
            if (pair.ack_timeout_ns)
                stream.facts.ack_timeout_ns = pair.ack_timeout_ns;
            if (pair.retry_count)
                stream.facts.retry_count = pair.retry_count;
        }
        settle_first_psn(stream);
    }
    // A First or a Middle is as long as the path MTU.
    const auto longest = [](const Stream& stream) {
        flow::PathMtu mtu = unknown_mtu;
        for (const auto& [side, seen] : stream.seen)
            if (seen.opcode->is_first() || seen.opcode->is_middle())
                mtu = std::max(mtu, flow::PathMtu{seen.payload});
        return mtu;
    };
    for (Stream& stream : streams_) {
        if (stream.path_mtu == unknown_mtu)
            stream.path_mtu = longest(stream);
        if (stream.path_mtu == unknown_mtu && stream.peer)
            stream.path_mtu = longest(streams_[*stream.peer]);
        if (stream.path_mtu != unknown_mtu)
            stream.facts.path_mtu = stream.path_mtu;
    }
}

// The first request that was sent; one that lies elsewhere than was told shows that the capture
// began later.
void Checker::settle_first_psn(Stream& stream) {
    const auto first = std::ranges::find_if(stream.seen, [](const auto& one) {
        return one.first == Side::Before && one.second.opcode->is_request();
    });
    if (first == stream.seen.end())
        return;
    const Sighting& request = first->second;
    if (stream.facts.first_psn == request.psn)
        return;
    stream.facts.is_told = false;
    stream.facts.first_psn = request.opcode->starts_message() && !stream.facts.first_psn
                                 ? std::optional(request.psn)
                                 : std::nullopt;
}

Half Checker::half_of(const Stream& requests, const Stream* responses) const {
    Half half;
    half.requests = requests.key;
    half.responses = responses != nullptr ? responses->key : requests.key.reversed(unknown_qpn);
    half.facts = requests.facts;
    half.end_ns = report_.end_ns;
    for (const auto& [side, seen] : requests.seen)
        if (seen.opcode->is_request())
            half.steps.push_back(
                {side == Side::Before ? What::RequestSent : What::RequestArrived, seen});
    if (responses != nullptr)
        for (const auto& [side, seen] : responses->seen)
            if (seen.opcode->is_response())
                half.steps.push_back(
                    {side == Side::Before ? What::ResponseSent : What::ResponseArrived, seen});
    std::ranges::stable_sort(half.steps, {}, [](const Step& step) { return step.seen.frame; });
    return half;
}

void Checker::check(const Stream& stream, const Stream* peer, std::size_t connection, bool forward,
                    HalfReport& out) {
    const Half half = half_of(stream, peer);
    if (half.steps.empty())
        return;
    Findings findings;
    Responder responder(half.facts, findings);
    Requester requester(half.facts, findings);
    for (const Step& step : half.steps) {
        switch (step.what) {
            case What::RequestSent:
                requester.sent(step.seen);
                ++out.requests;
                break;
            case What::RequestArrived:
                responder.request(step.seen);
                break;
            case What::ResponseSent:
                responder.response(step.seen);
                ++out.responses;
                break;
            case What::ResponseArrived:
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
    out.findings = findings.size();
    for (Recovery& recovery : recoveries(half, responder, requester, findings)) {
        recovery.connection = connection;
        recovery.forward = forward;
        report_.recoveries.push_back(std::move(recovery));
    }
    for (Finding& finding : findings) {
        finding.connection = connection;
        finding.forward = forward;
        report_.findings.push_back(std::move(finding));
    }
    count_models(half, responder, requester);
}

// Names and meanings: drivers/infiniband/sw/rxe/rxe_hw_counters.c of the kernel.
void Checker::count_models(const Half& half, const Responder& responder,
                           const Requester& requester) {
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
        if (step.what == What::ResponseArrived && !step.seen.damaged && step.seen.is_rnr_nak())
            ++asked["rcvd_rnr_err"];
    asked["rcvd_seq_err"] += requester.naks_that_acknowledged();
    for (const Resend& resend : requester.resends())
        asked["completer_retry_err"] += resend.cause == Cause::RnrNak ? 0 : 1;
    asked["retry_exceeded_err"] += requester.gave_up_after() ? 1 : 0;
}

}  // namespace conformance

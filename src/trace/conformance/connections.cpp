// Pairs streams into connections and collects what is known about them.
#include <algorithm>

#include "trace/conformance/checker.hpp"

namespace conformance {

Report Checker::finish() {
    tracker_.finish();
    settle_facts();
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        HalfStream& stream = streams_[i];
        HalfStream* peer = stream.peer ? &streams_[*stream.peer] : nullptr;
        if (stream.first_frame == 0 ||
            (peer != nullptr && peer->first_frame != 0 && peer->first_frame < stream.first_frame))
            continue;  // reported with the other one
        ConnectionReport made;
        made.from = stream.key.src;
        made.to = stream.key.dst;
        made.network = stream.key.network;
        made.to_qpn = stream.key.dest_qpn;
        if (peer != nullptr)
            made.from_qpn = peer->key.dest_qpn;
        made.pairing = stream.pairing;
        made.path_mtu = stream.path_mtu;
        const std::size_t number = report_.connections.size();
        start(stream, Keep::All);
        if (peer != nullptr)
            start(*peer, Keep::All);
        feed(stream, peer, UINT64_MAX);
        report(stream, number, true, made.forward);
        if (peer != nullptr)
            report(*peer, number, false, made.backward);
        report_.connections.push_back(made);
    }
    std::ranges::stable_sort(report_.findings, {}, &Finding::frame);
    std::ranges::stable_sort(report_.unknowable, {}, &Finding::frame);
    std::ranges::stable_sort(report_.recoveries, {},
                             [](const Recovery& one) { return one.packet.frame; });
    return std::move(report_);
}

// Takes over what the tracker has found out about the streams.
void Checker::settle_facts() {
    tracker_.for_each_stream([this](const flow::StreamFacts& facts) {
        if (facts.key.transport != wire::Transport::Rc)
            return;
        HalfStream& stream = streams_[stream_of(facts.number, facts.key)];
        settle_facts(stream, facts);
        // Models that run without the other direction do so to the end.
        if (stream.half && !stream.peer) {
            stream.pairing = flow::Pairing::None;
            return;
        }
        const auto peer = by_number_.find(facts.peer);
        if (peer == by_number_.end() || streams_[peer->second].half != nullptr)
            return;
        stream.peer = peer->second;
        streams_[peer->second].peer = by_number_.at(facts.number);
    });
}

void Checker::settle_facts(HalfStream& stream, const flow::StreamFacts& facts) {
    stream.pairing = facts.pairing;
    stream.path_mtu = facts.path_mtu;
    if (stream.half)
        return;  // the models run with those of their beginning
    if (facts.path_mtu != 0)
        stream.facts.path_mtu = facts.path_mtu;
    stream.facts.first_psn = facts.first_psn;
    stream.facts.is_told = facts.first_psn.has_value();
    stream.facts.retry = facts.retry;
    stream.facts.may_lack_packets =
        may_lack_packets_ && report_.completeness != Completeness::Known;
    settle_first_psn(stream, facts);
}

// Takes the PSN of the first request that was sent. If it differs from the one that a run log has, or far
// from the announced one, the capture began later.
void Checker::settle_first_psn(HalfStream& stream, const flow::StreamFacts& facts) {
    const auto first = std::ranges::find_if(stream.seen, [](const auto& one) {
        return one.first == LinkSide::Ingress && one.second.opcode->is_request();
    });
    if (first == stream.seen.end())
        return;
    const ObservedPacket& request = first->second;
    if (stream.facts.first_psn == request.psn || facts.announced_instead_of(request.psn))
        return;
    stream.facts.is_told = false;
    stream.facts.first_psn = request.opcode->starts_message() && !stream.facts.first_psn
                                 ? std::optional(request.psn)
                                 : std::nullopt;
}

}  // namespace conformance

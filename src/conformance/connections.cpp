// Streams into connections: which two belong together, and what is known of them.
#include <algorithm>
#include <functional>

#include "conformance/checker.hpp"

namespace conformance {
namespace {

constexpr flow::PathMtu unknown_mtu = 0;

bool tells_of(const flow::KnownQueuePair& pair, const flow::StreamKey& from_it) {
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
        report_.connections.push_back(made);
    }
    std::ranges::stable_sort(report_.findings, {}, &Finding::frame);
    std::ranges::stable_sort(report_.unknowable, {}, &Finding::frame);
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
        for (const flow::KnownQueuePair& pair : known_) {
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

// By the PSNs of responses, which follow soon behind a request that has them. The pair that fits
// best is taken first.
void Checker::pair_by_guess() {
    struct Guess {
        std::uint64_t points = 0;
        std::size_t one = 0;
        std::size_t other = 0;
    };
    std::vector<Guess> guesses;
    for (std::size_t i = 0; i < streams_.size(); ++i)
        for (std::size_t j = i + 1; j < streams_.size(); ++j) {
            const Stream& one = streams_[i];
            const Stream& other = streams_[j];
            if (one.peer || other.peer || other.key.src != one.key.dst ||
                other.key.dst != one.key.src || other.key.network != one.key.network)
                continue;
            if (const std::uint64_t points = score(one, other) + score(other, one); points != 0)
                guesses.push_back({points, i, j});
        }
    std::ranges::stable_sort(guesses, std::ranges::greater(), &Guess::points);
    for (const Guess& guess : guesses)
        if (!streams_[guess.one].peer && !streams_[guess.other].peer)
            join(guess.one, guess.other, PairedBy::Guess);
    // The only ones left between two hosts, one each way.
    const auto left = [&](const flow::Host& src, const flow::Host& dst) {
        std::vector<std::size_t> streams;
        for (std::size_t i = 0; i < streams_.size(); ++i)
            if (!streams_[i].peer && streams_[i].key.src == src && streams_[i].key.dst == dst)
                streams.push_back(i);
        return streams;
    };
    for (const Stream& stream : streams_) {
        if (stream.peer)
            continue;
        const auto there = left(stream.key.src, stream.key.dst);
        const auto back = left(stream.key.dst, stream.key.src);
        if (there.size() == 1 && back.size() == 1)
            join(there.front(), back.front(), PairedBy::Guess);
    }
}

std::uint64_t Checker::score(const Stream& stream, const Stream& other) {
    constexpr std::uint64_t soon = 200;  // frames
    std::unordered_map<std::uint32_t, std::uint64_t> asked;
    std::uint64_t points = 0;
    auto request = stream.seen.begin();
    for (const auto& [side, seen] : other.seen) {
        if (!seen.opcode->is_response())
            continue;
        for (; request != stream.seen.end() && request->second.frame < seen.frame; ++request)
            if (request->second.opcode->is_request())
                asked[request->second.psn.value()] = request->second.frame;
        const auto found = asked.find(seen.psn.value());
        points += found != asked.end() && seen.frame - found->second < soon ? 1 : 0;
    }
    return points;
}

void Checker::settle_facts() {
    for (Stream& stream : streams_) {
        for (const flow::KnownQueuePair& pair : known_) {
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

}  // namespace conformance

// Sorts frames into streams: what each host sent to each queue pair, and what of it arrived.
#include "trace/conformance/checker.hpp"

#include <algorithm>

namespace conformance {
namespace {

template <typename Predicate>
bool any_half(const Report& report, Predicate is_so) {
    return std::ranges::any_of(report.connections, [&](const ConnectionReport& one) {
        return is_so(one.forward) || is_so(one.backward);
    });
}

}  // namespace

bool Report::judges_nothing() const {
    return !any_half(*this, [](const HalfReport& half) { return half.is_judged(); });
}

bool Report::leaves_open() const {
    return !unknowable.empty() ||
           any_half(*this, [](const HalfReport& half) { return half.cut != 0; });
}

void Checker::begin(std::int64_t t_ns) {
    if (report_.frames++ == 0)
        shared_.last_ns = static_cast<std::uint64_t>(report_.begin_ns = t_ns);
    shared_.see(t_ns);
    report_.end_ns = std::max(report_.end_ns, t_ns);
}

Checker::Added Checker::add(std::uint64_t frame, LinkSide side, std::int64_t t_ns,
                            const wire::Packet& packet, util::Bytes bytes, IcrcTrust trust) {
    begin(t_ns);
    const auto key = flow::StreamKey::of(packet);
    ObservedPacket seen = observe(frame, t_ns, packet, trust);
    const bool damaged = is_damaged(packet, trust);
    if (key)
        count(side, *key, packet, damaged);
    if (side == LinkSide::Ingress) {
        if (!key)
            return {};
        const std::uint64_t number =
            tracker_.add(std::chrono::nanoseconds(t_ns), packet, bytes.size());
        if (seen.opcode == nullptr) {
            passages_.entered(frame, t_ns, bytes, std::nullopt);
            ++report_.not_judged;
            return {.stream = number};
        }
        const std::size_t stream = stream_of(number, *key);
        passages_.entered(
            frame, t_ns, bytes,
            FrameMatcher::Place{stream, streams_[stream].taken + streams_[stream].seen.size()});
        add(stream, side, seen);
        return {.stream = number};
    }
    const auto origin = passages_.left(t_ns, bytes);
    Added added;
    if (origin)
        added = {.origin = origin->frame,
                 .is_changed = origin->is_changed,
                 .has_twin = origin->has_twin};
    ObservedPacket* const sent = origin ? sent_at(origin->place) : nullptr;
    if (sent != nullptr) {
        if (sent->copy == 0)
            sent->copy = frame;
        else if (sent->fate == Fate::Passed)
            sent->fate = Fate::Doubled;
        sent->has_twin |= origin->has_twin;
    }
    // The headers of a damaged packet are unreliable.
    if (damaged || seen.opcode == nullptr) {
        if (sent == nullptr)
            return added;
        ObservedPacket broken = *sent;
        broken.frame = frame;
        broken.t_ns = t_ns;
        broken.is_damaged = true;
        broken.fate = Fate::Passed;
        sent->fate = Fate::Corrupted;
        add(origin->place->stream, side, broken);
        return added;
    }
    if (sent != nullptr && origin->is_changed)
        sent->fate = Fate::Changed;
    std::size_t stream = 0;
    if (sent != nullptr && streams_[origin->place->stream].key == *key) {
        stream = origin->place->stream;
    } else {
        added.stream = tracker_.add(std::chrono::nanoseconds(t_ns), packet, bytes.size());
        stream = stream_of(added.stream, *key);
    }
    add(stream, side, seen);
    return added;
}

// Returns nullptr if the models have taken the packet.
ObservedPacket* Checker::sent_at(const std::optional<FrameMatcher::Place>& place) {
    if (!place || place->index < streams_[place->stream].taken)
        return nullptr;
    HalfStream& stream = streams_[place->stream];
    return &stream.seen[place->index - stream.taken].second;
}

void Checker::add(std::size_t index, LinkSide side, const ObservedPacket& seen) {
    HalfStream& stream = streams_[index];
    if (stream.first_frame == 0)
        stream.first_frame = seen.frame;
    stream.seen.emplace_back(side, seen);
    const std::size_t part = part_size();
    if (stream.seen.size() >= 2 * part)
        take_part(index, stream.seen[part].second.frame);
}

// In packets of a direction.
std::size_t Checker::part_size() const {
    constexpr std::size_t least = 64, most = 65'536;  // of one direction, of all
    return std::clamp(most / streams_.size(), std::min(least, most_of_part_), most_of_part_);
}

std::size_t Checker::stream_of(std::uint64_t number, const flow::StreamKey& key) {
    const auto [entry, is_new] = by_number_.try_emplace(number, streams_.size());
    if (is_new)
        streams_.emplace_back().key = key;
    return entry->second;
}

HostReport& Checker::host(const flow::Host& host, flow::Network network) {
    const auto known = std::ranges::find(report_.hosts, host, &HostReport::host);
    if (known != report_.hosts.end())
        return *known;
    HostReport made{.host = host, .network = network, .counts = {}};
    for (const char* name : {"sent_pkts", "rcvd_pkts"})
        made.counts[name] = 0;
    return report_.hosts.emplace_back(std::move(made));
}

void Checker::count(LinkSide side, const flow::StreamKey& key, const wire::Packet& packet,
                    bool damaged) {
    HostReport& where = host(side == LinkSide::Ingress ? key.src : key.dst, key.network);
    if (side == LinkSide::Egress && damaged)
        return;
    ++where.counts[side == LinkSide::Ingress ? "sent_pkts" : "rcvd_pkts"];
    where.datagrams += packet.deth ? 1 : 0;
}

// Gives the models the packets before the frame `until`, of both directions. What became of these on
// the link is known: a packet that leaves after more than a part counts as lost.
void Checker::take_part(std::size_t index, std::uint64_t until) {
    HalfStream& stream = streams_[index];
    if (!stream.half) {
        if (const auto facts = tracker_.facts_of(stream.key))
            if (const auto peer = by_number_.find(facts->peer); peer != by_number_.end()) {
                stream.peer = peer->second;
                streams_[peer->second].peer = index;
            }
        start(stream, Keep::Part);
        if (stream.peer)
            start(streams_[*stream.peer], Keep::Part);
    }
    feed(stream, stream.peer ? &streams_[*stream.peer] : nullptr, until);
}

void Checker::settle_fates(HalfStream& stream, std::uint64_t until) {
    if (stream.packets != 0)
        return;  // at one point
    std::uint64_t earliest_behind = UINT64_MAX;
    for (auto one = stream.seen.rbegin(); one != stream.seen.rend(); ++one) {
        auto& [side, seen] = *one;
        if (side != LinkSide::Ingress)
            continue;
        if (seen.fate == Fate::Passed && seen.frame < until) {
            if (seen.copy == 0)
                seen.fate = Fate::Lost;
            else if (seen.copy > earliest_behind && !seen.has_twin)
                seen.fate = Fate::Reordered;
        }
        if (seen.copy != 0)
            earliest_behind = std::min(earliest_behind, seen.copy);
    }
}

// Starts the models of a direction with what is known of it now.
void Checker::start(HalfStream& stream, Keep keep) {
    if (stream.half)
        return;
    if (const auto facts = tracker_.facts_of(stream.key))
        settle_facts(stream, *facts);
    stream.half = std::make_unique<HalfCheck>(stream.facts, keep, shared_);
}

// In the order of the frames.
void Checker::feed(HalfStream& stream, HalfStream* peer, std::uint64_t until) {
    settle_fates(stream, until);
    if (peer != nullptr)
        settle_fates(*peer, until);
    while (true) {
        HalfStream* next = nullptr;
        for (HalfStream* one : {&stream, peer})
            if (one != nullptr && !one->seen.empty() && one->seen.front().second.frame < until &&
                (next == nullptr ||
                 one->seen.front().second.frame < next->seen.front().second.frame))
                next = one;
        if (next == nullptr)
            break;
        const auto [side, seen] = next->seen.front();
        next->seen.pop_front();
        ++next->taken;
        feed(*next, side, seen);
    }
    for (HalfStream* one : {&stream, peer})
        if (one != nullptr && one->half)
            one->half->end_part(until);
}

void Checker::feed(const HalfStream& stream, LinkSide side, const ObservedPacket& seen) {
    const bool is_request = seen.is_request();
    HalfCheck* half = nullptr;
    if (is_request)
        half = stream.half.get();
    else if (seen.is_response() && stream.peer)
        half = streams_[*stream.peer].half.get();
    if (half == nullptr)
        return;
    const bool is_at_one_point = stream.packets != 0;
    if (is_at_one_point)
        half->take(seen);
    else if (side == LinkSide::Ingress)
        half->take(is_request ? StepKind::RequestSent : StepKind::ResponseSent, seen);
    else
        half->take(is_request ? StepKind::RequestArrived : StepKind::ResponseArrived, seen);
}

}  // namespace conformance

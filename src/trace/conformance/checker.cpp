// Sorts frames into streams: what each host sent to each queue pair, and what of it arrived.
#include "trace/conformance/checker.hpp"

#include <algorithm>

namespace conformance {

void Checker::begin(std::int64_t t_ns) {
    if (report_.frames++ == 0)
        report_.begin_ns = t_ns;
    report_.end_ns = std::max(report_.end_ns, t_ns);
}

void Checker::add(std::uint64_t frame, LinkSide side, std::int64_t t_ns, const wire::Packet& packet,
                  util::Bytes bytes) {
    begin(t_ns);
    const auto key = flow::StreamKey::of(packet);
    ObservedPacket seen = observe(frame, t_ns, packet);
    const bool damaged =
        packet.malformed || (packet.icrc && packet.icrc->status == wire::IcrcStatus::Bad);
    if (key)
        count(side, *key, packet, damaged);
    if (side == LinkSide::Ingress) {
        if (!key)
            return;
        const std::uint64_t number =
            tracker_.add(std::chrono::nanoseconds(t_ns), packet, bytes.size());
        passages_.entered(frame, bytes);
        if (seen.opcode == nullptr) {
            ++report_.not_judged;
            return;
        }
        const std::size_t stream = stream_of(number, *key);
        sent_frames_[frame] = {stream, streams_[stream].seen.size()};
        add(streams_[stream], side, seen);
        return;
    }
    const auto origin = passages_.left(frame, bytes);
    const auto place = origin ? sent_frames_.find(origin->frame) : sent_frames_.end();
    // The headers of a damaged packet are unreliable.
    if (damaged || seen.opcode == nullptr) {
        if (place == sent_frames_.end())
            return;
        HalfStream& stream = streams_[place->second.stream];
        ObservedPacket broken = stream.seen[place->second.index].second;
        broken.frame = frame;
        broken.t_ns = t_ns;
        broken.is_damaged = true;
        broken.fate = Fate::Passed;
        stream.seen[place->second.index].second.fate = Fate::Corrupted;
        add(stream, side, broken);
        return;
    }
    if (place != sent_frames_.end() && origin->is_changed)
        streams_[place->second.stream].seen[place->second.index].second.fate = Fate::Changed;
    const bool is_own = place != sent_frames_.end() && streams_[place->second.stream].key == *key;
    const std::size_t stream =
        is_own
            ? place->second.stream
            : stream_of(tracker_.add(std::chrono::nanoseconds(t_ns), packet, bytes.size()), *key);
    add(streams_[stream], side, seen);
}

void Checker::add(HalfStream& stream, LinkSide side, const ObservedPacket& seen) {
    if (stream.first_frame == 0)
        stream.first_frame = seen.frame;
    stream.seen.emplace_back(side, seen);
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

void Checker::settle_fates() {
    for (HalfStream& stream : streams_) {
        if (stream.packets != 0)
            continue;  // at one point
        std::uint64_t earliest_behind = UINT64_MAX;
        for (auto one = stream.seen.rbegin(); one != stream.seen.rend(); ++one) {
            auto& [side, seen] = *one;
            if (side != LinkSide::Ingress)
                continue;
            const auto& copies = passages_.copies(seen.frame);
            if (seen.fate == Fate::Passed && copies.empty())
                seen.fate = Fate::Lost;
            if (copies.empty())
                continue;
            seen.copy = copies.front();
            if (seen.fate == Fate::Passed && copies.size() > 1)
                seen.fate = Fate::Doubled;
            else if (seen.fate == Fate::Passed && copies.front() > earliest_behind)
                seen.fate = Fate::Reordered;
            earliest_behind = std::min(earliest_behind, copies.front());
        }
    }
}

}  // namespace conformance

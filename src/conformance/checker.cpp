// Frames into streams: what each host sent to each queue pair, and what of it arrived.
#include "conformance/checker.hpp"

#include <algorithm>

namespace conformance {
namespace {

// Shorter than the requester's own: the message has it rounded up, with the way there and back.
std::int64_t timeout_of(std::uint8_t code) {
    constexpr double unit_ns = 4096;
    return static_cast<std::int64_t>(unit_ns * static_cast<double>(1ULL << (code & 31U)) / 2);
}

}  // namespace

void Checker::add(std::uint64_t frame, Side side, std::int64_t t_ns, const wire::Packet& packet,
                  util::Bytes bytes) {
    if (report_.frames++ == 0)
        report_.begin_ns = t_ns;
    report_.end_ns = std::max(report_.end_ns, t_ns);
    const auto key = flow::StreamKey::of(packet);
    Sighting seen = sighting_of(frame, t_ns, packet);
    const bool damaged =
        packet.malformed || (packet.icrc && packet.icrc->status == wire::IcrcStatus::Bad);
    if (key)
        count(side, *key, packet, damaged);
    if (side == Side::Before) {
        if (!key)
            return;
        if (packet.cm)
            see_cm(*key, *packet.cm);
        passages_.entered(frame, bytes);
        if (seen.opcode == nullptr) {
            ++report_.not_judged;
            return;
        }
        const std::size_t stream = stream_of(*key);
        places_[frame] = {stream, streams_[stream].seen.size()};
        streams_[stream].seen.emplace_back(side, seen);
        return;
    }
    const auto origin = passages_.left(frame, bytes);
    const auto place = origin ? places_.find(origin->frame) : places_.end();
    // A damaged packet's own header is not to be believed.
    if (damaged || seen.opcode == nullptr) {
        if (place == places_.end())
            return;
        Stream& stream = streams_[place->second.stream];
        Sighting broken = stream.seen[place->second.index].second;
        broken.frame = frame;
        broken.t_ns = t_ns;
        broken.damaged = true;
        broken.fate = Fate::Passed;
        stream.seen[place->second.index].second.fate = Fate::Corrupted;
        stream.seen.emplace_back(side, broken);
        return;
    }
    if (place != places_.end() && origin->is_changed)
        streams_[place->second.stream].seen[place->second.index].second.fate = Fate::Changed;
    const bool is_own = place != places_.end() && streams_[place->second.stream].key == *key;
    streams_[is_own ? place->second.stream : stream_of(*key)].seen.emplace_back(side, seen);
}

std::size_t Checker::stream_of(const flow::StreamKey& key) {
    const auto found = current_.find(key);
    return found != current_.end() ? found->second : new_stream(key);
}

std::size_t Checker::new_stream(const flow::StreamKey& key) {
    streams_.push_back({});
    streams_.back().key = key;
    current_[key] = streams_.size() - 1;
    return streams_.size() - 1;
}

// A new connection begins new streams, whatever passed between these queue pairs before.
void Checker::see_cm(const flow::StreamKey& key, const wire::Cm& message) {
    const auto connection = connects_.see(key, message);
    if (const auto* request = message.as<wire::CmReq>())
        requests_[request->local_comm_id] = {timeout_of(request->primary.local_ack_timeout),
                                             request->retry_count};
    if (!connection || connection->to_passive.transport != wire::Transport::Rc)
        return;
    if (const auto known = current_.find(connection->to_passive);
        known != current_.end() && streams_[known->second].connection == connection->id)
        return;  // a reply that was repeated
    const std::size_t there = new_stream(connection->to_passive);
    const std::size_t back = new_stream(connection->to_active);
    join(there, back, PairedBy::ConnectionManager);
    const auto asked = requests_.find(static_cast<std::uint32_t>(connection->id >> 32));
    for (const std::size_t index : {there, back}) {
        Stream& stream = streams_[index];
        stream.connection = connection->id;
        stream.path_mtu = connection->path_mtu;
        stream.facts.first_psn =
            index == there ? connection->first_to_passive : connection->first_to_active;
        stream.facts.is_told = true;
        if (asked != requests_.end()) {
            stream.facts.ack_timeout_ns = asked->second.ack_timeout_ns;
            stream.facts.retry_count = asked->second.retry_count;
        }
    }
}

void Checker::join(std::size_t a, std::size_t b, PairedBy by) {
    streams_[a].peer = b;
    streams_[b].peer = a;
    streams_[a].paired_by = streams_[b].paired_by = by;
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

void Checker::count(Side side, const flow::StreamKey& key, const wire::Packet& packet,
                    bool damaged) {
    HostReport& where = host(side == Side::Before ? key.src : key.dst, key.network);
    if (side == Side::After && damaged)
        return;
    ++where.counts[side == Side::Before ? "sent_pkts" : "rcvd_pkts"];
    where.datagrams += packet.deth ? 1 : 0;
}

void Checker::settle_fates() {
    for (Stream& stream : streams_) {
        std::uint64_t earliest_behind = UINT64_MAX;
        for (auto one = stream.seen.rbegin(); one != stream.seen.rend(); ++one) {
            auto& [side, seen] = *one;
            if (side != Side::Before)
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

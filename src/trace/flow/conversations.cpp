// Reports on the streams of a tracker.
#include <algorithm>
#include <vector>

#include "trace/flow/tracker.hpp"

namespace flow {

void Tracker::for_each(const std::function<void(const Conversation&)>& visit) const {
    std::vector<PoolIndex> forwards = table_.by_number();
    std::erase_if(forwards, [this](PoolIndex index) {
        return is_folded(table_[index]) || is_empty(table_[index]);
    });
    std::ranges::stable_sort(forwards, {},
                             [this](PoolIndex index) { return table_[index].first_ns; });
    std::uint64_t number = 0;
    for (const PoolIndex index : forwards) {
        Conversation conversation = this->conversation(index);
        conversation.number = ++number;
        visit(conversation);
    }
}

void Tracker::for_each_stream(const std::function<void(const StreamFacts&)>& visit) const {
    for (const PoolIndex index : table_.by_number())
        visit(facts(table_[index]));
}

std::optional<StreamFacts> Tracker::facts_of(const StreamKey& key) const {
    const PoolIndex index = table_.find(key);
    return index == no_index ? std::nullopt : std::optional(facts(table_[index]));
}

StreamFacts Tracker::facts(const Stream& stream) const {
    const Stream* peer = stream.is_paired() ? &table_[stream.peer] : nullptr;
    return {.number = stream.number,
            .key = stream.key,
            .peer = peer != nullptr ? peer->number : 0,
            .pairing = stream.pairing,
            .path_mtu = stream.path_mtu == 0 && peer != nullptr ? peer->path_mtu : stream.path_mtu,
            .first_psn = stream.first_psn,
            .was_set_up = stream.connection.has_value(),
            .retry = stream.retry};
}

// The second direction of a conversation is reported with the first.
bool Tracker::is_folded(const Stream& stream) const {
    return stream.is_paired() && begins_later(stream, table_[stream.peer]);
}

// Returns whether the stream's connection was set up but never used.
bool Tracker::is_empty(const Stream& stream) const {
    return stream.packets == 0 && (!stream.is_paired() || table_[stream.peer].packets == 0);
}

// The direction of the first packet comes first. If only one direction has packets, it comes first.
bool Tracker::begins_later(const Stream& stream, const Stream& peer) {
    if ((stream.packets == 0) != (peer.packets == 0))
        return stream.packets == 0;
    if (stream.first_ns != peer.first_ns)
        return stream.first_ns > peer.first_ns;
    return stream.number > peer.number;
}

Conversation Tracker::conversation(PoolIndex index) const {
    const Stream& stream = table_[index];
    Conversation result;
    result.transport = stream.key.transport;
    result.network = stream.key.network;
    result.pairing = stream.pairing;
    result.path_mtu = stream.path_mtu;
    result.is_sequenced = stream.is_connected();
    result.forward = direction(stream);
    if (!stream.is_paired()) {
        result.is_doubled = stream.requests.is_doubled();
        return result;
    }
    const Stream& peer = table_[stream.peer];
    // A retransmission after a NAK arrives as quickly as a copy from a second capture point.
    const auto is_doubled = [](const Stream& requester, const Stream& responder) {
        return requester.requests.is_doubled() && !responder.responses.asked_again();
    };
    result.is_doubled = is_doubled(stream, peer) || is_doubled(peer, stream);
    result.backward = direction(peer);
    if (result.path_mtu == 0)
        result.path_mtu = peer.path_mtu;
    return result;
}

Direction Tracker::direction(const Stream& stream) const {
    Direction result;
    result.src = stream.key.src;
    result.dst = stream.key.dst;
    result.dest_qpn = stream.key.dest_qpn;
    if (stream.src_qpn != Stream::unknown_qpn)
        result.src_qpn = stream.src_qpn;
    result.packets = stream.packets;
    result.wire_bytes = stream.wire_bytes;
    result.payload_bytes = stream.payload_bytes;
    result.first_ns = stream.first_ns;
    result.last_ns = stream.last_ns;
    result.messages = stream.messages;
    result.marks = stream.marks;
    result.malformed = stream.malformed;
    result.icrc_checked = stream.icrc_checked;
    result.icrc_bad = stream.icrc_bad;
    result.requests = requests(stream);
    result.responses = stream.responses.counts();
    return result;
}

Requests Tracker::requests(const Stream& stream) const {
    const RequestSequence& sequence = stream.requests;
    return {.packets = sequence.packets(),
            .first_psn = sequence.first_psn(),
            .last_psn = sequence.next() - 1,
            .psns = sequence.psns(),
            .psns_per_second = sequence.psns_per_second(),
            .repeats = sequence.repeats(),
            .copies = sequence.copies(),
            .late = sequence.late(),
            .gaps = sequence.gaps().count(),
            .missing = sequence.gaps().missing(),
            .restarts = sequence.restarts(),
            .rkeys = stream.rkeys,
            .ack = stream.ack.summary(pools_.latencies),
            .read_first = stream.read_first.summary(pools_.latencies),
            .read_last = stream.read_last.summary(pools_.latencies),
            .unmeasured = stream.unmeasured + stream.outstanding.size()};
}

}  // namespace flow

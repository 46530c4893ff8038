// Pairs the two streams of a conversation: a BTH names only the receiver.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/flow/tracker.hpp"

namespace flow {

void Tracker::pair_by_knowledge(PoolIndex index) {
    Stream& stream = table_[index];
    if (stream.key.transport == wire::Transport::Ud) {
        stream.src_qpn = stream.key.src_qpn;
        if (const PoolIndex peer = table_.find(stream.key.reversed(stream.key.src_qpn));
            peer != no_index && peer != index)
            link(index, peer, Pairing::Deth);
        return;
    }
    if (!stream.is_connected() || known_.empty())
        return;
    const auto sender = known_.sender_of(stream.key);
    if (!sender)
        return;
    stream.src_qpn = sender->qpn;
    if (sender->path_mtu != 0)
        learn_path_mtu(stream, sender->path_mtu, false);
    if (!sender->had_several_first_psns)
        stream.first_psn = sender->first_psn;
    stream.retry = sender->retry;
    const PoolIndex peer = table_.find(stream.key.reversed(sender->qpn));
    if (peer != no_index && peer != index && !table_[peer].is_paired())
        link(index, peer, Pairing::RunLog);
}

void Tracker::pair_by_psn(PoolIndex response, wire::Psn psn) {
    const auto [requester, number] = ack_index_.answered_by(table_[response].key, psn);
    if (requester == no_index || requester == response)
        return;
    const Stream& stream = table_[requester];
    if (stream.number == number && !stream.is_closed && !stream.is_paired() &&
        stream.requests.has_sent(psn))
        link(response, requester, Pairing::AckGuess);
}

void Tracker::finish() {
    std::vector<PoolIndex> left = table_.by_number();
    std::erase_if(left, [this](PoolIndex index) {
        const Stream& stream = table_[index];
        return stream.is_paired() || !stream.is_connected() || stream.packets == 0;
    });
    // By the two hosts, in either direction.
    const auto key_of = [this](PoolIndex index) {
        const StreamKey& key = table_[index].key;
        return std::tuple(std::minmax({key.src, key.dst}), key.network, key.transport);
    };
    std::ranges::stable_sort(left, {}, key_of);
    for (auto begin = left.begin(); begin != left.end();) {
        const auto end = std::find_if(
            begin, left.end(), [&](PoolIndex index) { return key_of(index) != key_of(*begin); });
        if (end - begin == 2 && table_[begin[0]].key.src != table_[begin[1]].key.src)
            link(begin[0], begin[1], Pairing::LeftOver);
        begin = end;
    }
}

void Tracker::connect(const Connection& connection) {
    const std::array ways{&connection.to_passive, &connection.to_active};
    const std::array firsts{connection.first_to_passive, connection.first_to_active};
    std::array<PoolIndex, 2> streams{};
    const auto find = [&] {
        std::ranges::transform(ways, streams.begin(),
                               [&](const StreamKey* key) { return table_.find(*key); });
    };
    find();
    if (is_of_another(streams[0], connection.id, firsts[0]) ||
        is_of_another(streams[1], connection.id, firsts[1])) {
        std::ranges::for_each(streams, [&](PoolIndex index) { retire(index); });
        find();
    }
    // Creating one stream must not evict the other.
    for (const PoolIndex index : streams)
        if (index != no_index)
            table_.touch(index);
    for (std::size_t i = 0; i < streams.size(); ++i) {
        if (streams[i] == no_index)
            streams[i] = make(*ways[i]);
        Stream& stream = table_[streams[i]];
        if (!std::exchange(stream.connection, connection.id) && !stream.requests.started())
            stream.requests.expect(firsts[i]);
        stream.first_psn = firsts[i];
        if (!stream.retry.ack_timeout_ns)
            stream.retry.ack_timeout_ns = connection.retry.ack_timeout_ns;
        if (!stream.retry.retry_count)
            stream.retry.retry_count = connection.retry.retry_count;
        if (connection.path_mtu != 0 && stream.path_mtu == 0)
            learn_path_mtu(stream, connection.path_mtu, false);
    }
    if (table_[streams[0]].peer != streams[1] || table_[streams[0]].pairing != Pairing::Cm)
        link(streams[0], streams[1], Pairing::Cm);
}

// Returns true if the stream belongs to an earlier connection with the same QPN, and false if the
// message is a retransmission for this connection.
bool Tracker::is_of_another(PoolIndex index, std::uint64_t connection, wire::Psn first) const {
    if (index == no_index)
        return false;
    const Stream& stream = table_[index];
    if (stream.connection)
        return *stream.connection != connection;
    return stream.packets != 0 && stream.requests.started() && stream.requests.start() != first;
}

// Frees the stream's key for another connection. Removes the stream if it was never used.
void Tracker::retire(PoolIndex index) {
    if (index == no_index)
        return;
    std::ranges::replace(recent_, index, no_index);
    if (is_empty(table_[index]))
        remove(index);
    else
        table_.close(index);
}

void Tracker::link(PoolIndex a, PoolIndex b, Pairing pairing) {
    unlink(a);
    unlink(b);
    const auto connect_one = [&](Stream& stream, const Stream& other, PoolIndex peer) {
        stream.peer = peer;
        stream.pairing = pairing;
        stream.src_qpn = other.key.dest_qpn;
        // Both directions of a connection have one path MTU.
        if (stream.is_connected() && stream.path_mtu == 0 && other.path_mtu != 0)
            learn_path_mtu(stream, other.path_mtu, other.path_mtu_was_seen);
        if (other.requests.started())
            stream.responses.expect(other.requests.start());
    };
    connect_one(table_[a], table_[b], b);
    connect_one(table_[b], table_[a], a);
}

void Tracker::unlink(PoolIndex index) {
    Stream& stream = table_[index];
    if (!stream.is_paired())
        return;
    const auto part = [](Stream& one) {
        // Discard what was guessed from the other stream.
        if (is_guess(one.pairing))
            one.src_qpn = Stream::unknown_qpn;
        one.peer = no_index;
        one.pairing = Pairing::None;
    };
    part(table_[stream.peer]);
    part(stream);
}

}  // namespace flow

// Which two streams are the directions of one conversation: a BTH names only the receiver.
#include <algorithm>

#include "flow/tracker.hpp"

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
    const PoolIndex peer = table_.find(stream.key.reversed(sender->qpn));
    if (peer != no_index && peer != index && !table_[peer].is_paired())
        link(index, peer, Pairing::RunLog);
}

void Tracker::pair_by_psn(PoolIndex response, wire::Psn psn) {
    const PoolIndex requester = ack_index_.answered_by(table_[response].key, psn);
    if (requester == no_index || requester == response)
        return;
    const Stream& stream = table_[requester];
    const StreamKey& key = table_[response].key;
    // The index may hold a stream that is no longer there, or another one in its place.
    if (stream.number == 0 || stream.is_closed || stream.is_paired() || stream.key.src != key.dst ||
        stream.key.dst != key.src || stream.key.transport != key.transport ||
        !stream.requests.has_sent(psn))
        return;
    link(response, requester, Pairing::AckGuess);
}

void Tracker::connect(const Connection& connection) {
    const PoolIndex passive =
        connected(connection.to_passive, connection.first_to_passive, connection.path_mtu);
    const PoolIndex active =
        connected(connection.to_active, connection.first_to_active, connection.path_mtu);
    // Making room for the second may have taken the first.
    if (table_[passive].number != 0 && table_[passive].key == connection.to_passive &&
        table_[passive].peer != active)
        link(passive, active, Pairing::Cm);
}

// The stream of a connection that is made now. One that is there already is the same connection's,
// whose messages were repeated, or an older one's on the same queue pair number.
PoolIndex Tracker::connected(const StreamKey& key, wire::Psn first, PathMtu path_mtu) {
    PoolIndex index = table_.find(key);
    if (index != no_index && table_[index].packets != 0 &&
        table_[index].requests.start() != first) {
        table_.close(index);
        std::ranges::replace(recent_, index, no_index);
        index = no_index;
    }
    if (index == no_index)
        index = make(key);
    Stream& stream = table_[index];
    table_.touch(index);
    if (!stream.requests.started())
        stream.requests.expect(first);
    if (path_mtu != 0 && stream.path_mtu == 0)
        learn_path_mtu(stream, path_mtu, false);
    return index;
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
    Stream& peer = table_[stream.peer];
    peer.peer = no_index;
    peer.pairing = Pairing::None;
    stream.peer = no_index;
    stream.pairing = Pairing::None;
}

}  // namespace flow

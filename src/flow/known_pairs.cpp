#include "flow/known_pairs.hpp"

namespace flow {

std::size_t KnownPairs::Hash::operator()(const Place& place) const {
    const Host host = place.host.value_or(Host());
    return mixed(mixed(host.low, host.high), place.qpn);
}

void KnownPairs::put(Senders& senders, const Place& place, const Sender& sender) {
    const auto [entry, is_new] = senders.try_emplace(place, sender);
    if (is_new || !entry->second)
        return;
    if (entry->second->qpn != sender.qpn)
        entry->second.reset();
    else if (sender.path_mtu != 0)
        entry->second->path_mtu = sender.path_mtu;
}

void KnownPairs::add(const KnownQueuePair& pair) {
    put(by_receiver_, {pair.host, pair.qpn}, {pair.dest_qpn, pair.path_mtu});
    put(by_sender_, {pair.host, pair.dest_qpn}, {pair.qpn, pair.path_mtu});
}

std::optional<KnownPairs::Sender> KnownPairs::find(const Senders& senders, const Host& host,
                                                   std::uint32_t qpn) {
    auto entry = senders.find({host, qpn});
    if (entry == senders.end())
        entry = senders.find({std::nullopt, qpn});
    return entry == senders.end() ? std::nullopt : entry->second;
}

std::optional<KnownPairs::Sender> KnownPairs::sender_of(const StreamKey& stream) const {
    if (const auto sender = find(by_receiver_, stream.dst, stream.dest_qpn))
        return sender;
    return find(by_sender_, stream.src, stream.dest_qpn);
}

}  // namespace flow

#include "trace/flow/known_pairs.hpp"

namespace flow {

std::size_t KnownPairs::Hash::operator()(const QueuePairId& place) const {
    const Host host = place.host.value_or(Host());
    return static_cast<std::size_t>(mixed(mixed(host.low, host.high), place.qpn));
}

void KnownPairs::put(Senders& senders, const QueuePairId& place, const Sender& sender) {
    const auto [entry, is_new] = senders.try_emplace(place, sender);
    if (is_new || !entry->second)
        return;
    Sender& known = *entry->second;
    if (known.qpn != sender.qpn) {
        entry->second.reset();
        return;
    }
    if (sender.path_mtu != 0)
        known.path_mtu = sender.path_mtu;
    known.had_several_first_psns |= known.first_psn != sender.first_psn;
    known.retry = sender.retry;
}

void KnownPairs::add(const KnownQueuePair& pair) {
    put(by_receiver_, {pair.host, pair.qpn}, {.qpn = pair.dest_qpn, .path_mtu = pair.path_mtu});
    put(by_sender_, {pair.host, pair.dest_qpn},
        {.qpn = pair.qpn,
         .path_mtu = pair.path_mtu,
         .first_psn = pair.sq_psn,
         .retry = pair.retry});
}

std::optional<KnownPairs::Sender> KnownPairs::find(const Senders& senders, const Host& host,
                                                   std::uint32_t qpn) {
    auto entry = senders.find({host, qpn});
    if (entry == senders.end())
        entry = senders.find({std::nullopt, qpn});
    return entry == senders.end() ? std::nullopt : entry->second;
}

std::optional<KnownPairs::Sender> KnownPairs::sender_of(const StreamKey& stream) const {
    const auto own = find(by_sender_, stream.src, stream.dest_qpn);
    const auto told = find(by_receiver_, stream.dst, stream.dest_qpn);
    if (!told)
        return own;
    if (!own || own->qpn != told->qpn)
        return told;
    Sender sender = *own;
    if (told->path_mtu != 0)
        sender.path_mtu = told->path_mtu;
    return sender;
}

}  // namespace flow

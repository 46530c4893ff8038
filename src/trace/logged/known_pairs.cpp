#include "trace/logged/known_pairs.hpp"

#include <optional>

#include "runlog/tail.hpp"

namespace logged {

using flow::KnownQueuePair;

void LogPairs::learn(const runlog::Event& event) {
    const QueuePair* now = known_.learn(event);
    if (now == nullptr || !now->dest_qpn || !QueuePair::is_state(event))
        return;
    Found& found = entry_of(now->qpn, *now->dest_qpn);
    KnownQueuePair& pair = found.pair;
    if (pair.path_mtu == 0)
        pair.path_mtu = static_cast<flow::PathMtu>(now->path_mtu);
    // Only the first RTS state: a later one has the PSN of the next request.
    if (found.could_send || now->state != "RTS")
        return;
    found.could_send = true;
    pair.sq_psn = now->sq_psn;
    pair.retry.ack_timeout_ns = now->ack_timeout_ns();
    if (now->retry_cnt)
        pair.retry.retry_count = static_cast<std::uint32_t>(*now->retry_cnt);
}

// The entry of this queue pair and peer; a new one if there is none.
LogPairs::Found& LogPairs::entry_of(std::uint32_t qpn, std::uint32_t dest_qpn) {
    const auto [known, is_new] = by_ends_.try_emplace({qpn, dest_qpn}, found_.size());
    if (!is_new)
        return found_[known->second];
    Found& found = found_.emplace_back();
    found.pair.qpn = qpn;
    found.pair.dest_qpn = dest_qpn;
    return found;
}

std::vector<KnownQueuePair> LogPairs::all() const {
    std::optional<flow::Host> host;
    bool has_several = false;  // then no queue pair's device is known
    for (const Device& device : known_.devices().all()) {
        has_several |= host && device.host && device.host != host;
        host = device.host ? device.host : host;
    }
    std::vector<KnownQueuePair> pairs;
    for (const Found& one : found_) {
        pairs.push_back(one.pair);
        if (!has_several)
            pairs.back().host = host;
    }
    return pairs;
}

std::vector<KnownQueuePair> queue_pairs_in(const std::string& run_log) {
    runlog::Tail log(run_log);
    LogPairs pairs;
    while (const auto event = log.next())
        pairs.learn(*event);
    return pairs.all();
}

}  // namespace logged

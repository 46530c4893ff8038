#include "trace/logged/known_pairs.hpp"

#include <algorithm>
#include <optional>

#include "runlog/tail.hpp"
#include "trace/logged/objects.hpp"

namespace logged {
namespace {

using flow::KnownQueuePair;

struct Found {
    KnownQueuePair pair;
    bool could_send = false;
};

// The entry of this queue pair and peer; a new one if there is none.
Found& entry_of(std::vector<Found>& all, std::uint32_t qpn, std::uint32_t dest_qpn) {
    const auto known = std::ranges::find_if(all, [&](const Found& one) {
        return one.pair.qpn == qpn && one.pair.dest_qpn == dest_qpn;
    });
    if (known != all.end())
        return *known;
    Found& found = all.emplace_back();
    found.pair.qpn = qpn;
    found.pair.dest_qpn = dest_qpn;
    return found;
}

// Takes only the first RTS state: a later one has the PSN of the next request.
void learn(Found& found, const QueuePair& now) {
    KnownQueuePair& pair = found.pair;
    if (pair.path_mtu == 0)
        pair.path_mtu = static_cast<flow::PathMtu>(now.path_mtu);
    if (found.could_send || now.state != "RTS")
        return;
    found.could_send = true;
    pair.sq_psn = now.sq_psn;
    pair.retry.ack_timeout_ns = now.ack_timeout_ns();
    if (now.retry_cnt)
        pair.retry.retry_count = static_cast<std::uint32_t>(*now.retry_cnt);
}

}  // namespace

std::vector<KnownQueuePair> queue_pairs_in(const std::string& run_log) {
    runlog::Tail log(run_log);
    QueuePairs<> known;
    std::vector<Found> found;
    while (const auto event = log.next()) {
        const QueuePair* pair = known.learn(*event);
        if (pair != nullptr && pair->dest_qpn && QueuePair::is_state(*event))
            learn(entry_of(found, pair->qpn, *pair->dest_qpn), *pair);
    }
    std::optional<flow::Host> host;
    bool has_several = false;  // then no queue pair's device is known
    for (const Device& device : known.devices().all()) {
        has_several |= host && device.host && device.host != host;
        host = device.host ? device.host : host;
    }
    std::vector<KnownQueuePair> pairs;
    for (Found& one : found) {
        if (!has_several)
            one.pair.host = host;
        pairs.push_back(one.pair);
    }
    return pairs;
}

}  // namespace logged

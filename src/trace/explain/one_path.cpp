// Queue pairs whose packets all take one of several paths.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

// The queue pairs of a host to which another host sends requests.
struct Bundle {
    const KeptStream* first = nullptr;
    std::set<std::uint32_t> queue_pairs;
    std::set<std::uint16_t> ports;
};

bool has_lost_packets(const Causes& causes) {
    return std::ranges::any_of(causes, [](const Cause& cause) {
        return cause.code == Code::Loss || cause.code == Code::Congestion;
    });
}

}  // namespace

// Switches and link aggregation choose a path by addresses and ports. The destination port of RoCE is
// always the same.
void explain_one_path(const Whole& whole, Causes& causes) {
    constexpr std::size_t least = 4;  // fewer may share a port by chance
    std::map<std::pair<flow::Host, flow::Host>, Bundle> bundles;
    for (const KeptStream& stream : whole.traffic.streams()) {
        if (stream.requests == 0 || stream.src_port == 0 ||
            stream.key.transport == wire::Transport::Ud)
            continue;
        Bundle& bundle = bundles[{stream.key.src, stream.key.dst}];
        bundle.first = bundle.first == nullptr ? &stream : bundle.first;
        bundle.queue_pairs.insert(stream.key.dest_qpn);
        bundle.ports.insert(stream.src_port);
    }
    const bool has_lost = has_lost_packets(causes);
    for (const auto& [hosts, bundle] : bundles) {
        if (bundle.queue_pairs.size() < least || bundle.ports.size() != 1)
            continue;
        const flow::StreamKey& key = bundle.first->key;
        Cause cause{
            .code = Code::OnePath,
            .certainty = Certainty::Possible,
            .text = fmt::format(
                "the requests for {} queue pairs all come from UDP source port {}: where several "
                "paths exist (ECMP, link aggregation), they share one of them{}.",
                bundle.queue_pairs.size(), bundle.first->src_port,
                has_lost ? ", which may be why packets were lost or marked" : ""),
            .evidence = {},
            .where = fmt::format("{} → {}", whole.logs.name_of(key.src, key.network),
                                 whole.logs.name_of(key.dst, key.network))};
        cause.add(evidence(bundle.first->packets.front()));
        causes.push_back(std::move(cause));
    }
}

}  // namespace explain

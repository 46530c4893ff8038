#include "trace/timeline/capability.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "trace/flow/key.hpp"
#include "trace/timeline/endpoint_search.hpp"
#include "wire/tcp.hpp"

namespace timeline {

namespace key = runlog::key;

namespace {

bool is_known(const Capability& capability, std::string_view who, std::string_view how) {
    return std::ranges::any_of(capability.learned, [&](const Learned& learned) {
        return learned.who == who && learned.how == how;
    });
}

}  // namespace

bool Capability::is_remote() const {
    return rkey != 0 && allows("remote_");
}

void Capabilities::learn(const runlog::Event& event) {
    devices_.learn(event);
    if (event.is("mr")) {
        add(event);
    } else if (const auto told = logged::Told::of(event)) {
        receive(event, *told);
    }
}

void Capabilities::add(const runlog::Event& event) {
    Capability& added = all_.emplace_back(Capability{logged::Region::of(event), {}});
    if (!added.is_remote())
        return;
    by_rkey_[added.rkey].push_back(all_.size() - 1);
    const auto [first, last] = waiting_.equal_range(added.rkey);
    for (auto it = first; it != last;) {
        Waiting& waiting = it->second;
        const bool is_of_it = waiting.told.va == added.va && waiting.told.length == added.length &&
                              waiting.learned.who != added.role;
        if (is_of_it && !is_known(added, waiting.learned.who, waiting.learned.how))
            added.learned.push_back(std::move(waiting.learned));
        it = is_of_it ? waiting_.erase(it) : std::next(it);
    }
}

void Capabilities::receive(const runlog::Event& event, const logged::Told& told) {
    Learned learned{event.role, event.t_ns, std::string(event[key::channel]), 0};
    Capability* const capability = find(told.rkey, [&](const Capability& region) {
        return region.va == told.va && region.length == told.length && region.role != event.role;
    });
    if (capability == nullptr)
        waiting_.emplace(told.rkey, Waiting{told, std::move(learned)});
    else if (!is_known(*capability, learned.who, learned.how))
        capability->learned.push_back(std::move(learned));
}

void Capabilities::see(const wire::Packet& packet, util::Bytes frame, std::uint64_t number,
                       std::int64_t t_ns) {
    if (by_rkey_.empty())
        return;
    if (packet.reth) {
        see_use(packet.reth->rkey, packet.reth->va, packet, {"RETH", number, t_ns});
    } else if (packet.atomic_eth) {
        see_use(packet.atomic_eth->rkey, packet.atomic_eth->va, packet,
                {"AtomicETH", number, t_ns});
    } else if (packet.cm) {
        if (const auto* request = packet.cm->as<wire::CmReq>())
            see_private_data(request->private_data, {"CM ConnectRequest", number, t_ns});
        else if (const auto* reply = packet.cm->as<wire::CmRep>())
            see_private_data(reply->private_data, {"CM ConnectReply", number, t_ns});
    } else if (const auto segment = wire::tcp_segment(packet, frame)) {
        util::Bytes payload = segment->payload;
        while (const auto endpoint = take_endpoint(payload))
            see_told({.va = endpoint->va, .length = endpoint->length, .rkey = endpoint->rkey},
                     {"TCP segment", number, t_ns});
    }
}

void Capabilities::see_private_data(util::Bytes data, const WireReference& reference) {
    constexpr std::size_t told_size = 20;
    for (; data.size() >= told_size; data = data.subspan(1)) {
        const auto bytes = data.first<told_size>();
        see_told({.va = util::be64<4>(bytes),
                  .length = util::be64<12>(bytes),
                  .rkey = util::be32<0>(bytes)},
                 reference);
    }
}

void Capabilities::see_told(const logged::Told& told, const WireReference& reference) {
    Capability* const capability = find(told.rkey, [&](const Capability& region) {
        return region.va == told.va && region.length == told.length;
    });
    if (capability != nullptr)
        note(*capability, reference);
}

void Capabilities::see_use(std::uint32_t rkey, std::uint64_t va, const wire::Packet& packet,
                           const WireReference& reference) {
    Capability* const capability = find(rkey, [&](const Capability& region) {
        return va >= region.va && va - region.va < region.length && is_for(packet, region.role);
    });
    if (capability != nullptr)
        note(*capability, reference);
}

void Capabilities::note(Capability& capability, const WireReference& reference) {
    if (!is_known(capability, "", reference.how))
        capability.learned.push_back(
            {"", reference.t_ns, std::string(reference.how), reference.number});
}

bool Capabilities::is_for(const wire::Packet& packet, const std::string& role) const {
    const logged::Device* device = devices_.last_of(role);
    const auto stream = flow::StreamKey::of(packet);
    return device == nullptr || !device->host || (stream && stream->dst == device->host);
}

template <typename Fits>
Capability* Capabilities::find(std::uint32_t rkey, Fits fits) {
    const auto entry = by_rkey_.find(rkey);
    if (entry == by_rkey_.end())
        return nullptr;
    const std::vector<std::size_t>& indices = entry->second;
    const auto last = std::find_if(indices.rbegin(), indices.rend(),
                                   [&](std::size_t index) { return fits(all_[index]); });
    return last == indices.rend() ? nullptr : &all_[*last];
}

}  // namespace timeline

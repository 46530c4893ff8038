#include "timeline/join.hpp"

#include <algorithm>

#include "timeline/gid_address.hpp"

namespace timeline {
namespace {

std::string other_role(const std::string& role) {
    return role == "server" ? "client" : "server";
}

}  // namespace

const WorkRequest* Join::learn(const runlog::Event& event) {
    if (event.name == "ready") {
        if (const auto port = event.number("port"))
            ports_.insert(*port);
        return nullptr;
    }
    if (event.name == "device" && !event.text("gid").empty()) {
        const std::string address = address_of_gid(event.text("gid"));
        const auto [begin, end] = roles_.equal_range(address);
        if (std::none_of(begin, end, [&](const auto& entry) { return entry.second == event.role; }))
            roles_.emplace(address, event.role);
        return nullptr;
    }
    const auto qpn = event.number("qpn");
    if (!qpn)
        return nullptr;
    const QpKey key{event.role, static_cast<std::uint32_t>(*qpn)};
    if (event.name == "qp_state") {
        made_.insert(key);
        if (const auto peer = event.number("dest_qpn"))
            peers_[key] = static_cast<std::uint32_t>(*peer);
    } else if (event.name == "qp") {
        made_.insert(key);
        begin_queue(key);
    } else if (event.name == "post_send") {
        if (queues_[key].empty())
            begin_queue(key);  // a log without its qp event
        const WorkRequest* request = queues_[key].back().add(event, posts_);
        posts_ += request != nullptr;
        return request;
    } else if (event.name == "wc") {
        if (const auto queues = queues_.find(key); queues != queues_.end())
            return queues->second.back().complete(event);
    }
    return nullptr;
}

// One that posted nothing will not any more.
void Join::begin_queue(const QpKey& key) {
    std::vector<SendQueue>& queues = queues_[key];
    if (queues.empty() || queues.back().has_posts())
        queues.emplace_back();
}

std::optional<Cause> Join::cause_of(const PacketKey& packet) {
    const auto place = place_of(packet);
    return place ? std::optional(place->cause()) : std::nullopt;
}

// A multicast one is no less its sender's.
std::optional<Place> Join::place_of_datagram(const PacketKey& packet) {
    const auto [begin, end] = roles_.equal_range(packet.source);
    for (auto it = begin; it != end; ++it)
        if (const auto place = account({it->second, *packet.source_qpn}, packet))
            return place;
    return std::nullopt;
}

std::optional<Place> Join::place_of(const PacketKey& packet) {
    if (packet.source_qpn)
        return place_of_datagram(packet);
    const QpKey receiving{packet.destination, packet.dest_qpn};
    const auto early = early_.find(receiving);
    const auto [begin, end] = roles_.equal_range(packet.destination);
    for (auto it = begin; it != end; ++it) {
        const QpKey receiver{it->second, packet.dest_qpn};
        const auto peer = peers_.find(receiver);
        if (peer == peers_.end())
            continue;
        const auto posters = packet.is_response ? std::vector{receiver.first}
                                                : peers_at(packet.source, receiver.first);
        for (const std::string& role : posters) {
            const QpKey poster{role, packet.is_response ? packet.dest_qpn : peer->second};
            const auto place = account(poster, packet);
            if (!place)
                continue;
            if (early != early_.end() && !packet.is_response && early->second.psn == packet.psn)
                early_.erase(early);
            return place;
        }
    }
    if (early == early_.end() && !packet.is_response)
        early_.emplace(receiving, packet);
    return std::nullopt;
}

std::optional<Place> Join::account(const QpKey& poster, const PacketKey& packet) {
    const auto it = queues_.find(poster);
    if (it == queues_.end())
        return std::nullopt;
    for (auto queue = it->second.rbegin(); queue != it->second.rend(); ++queue)
        if (const auto place = queue->account(packet))
            return place;
    if (packet.is_response)
        return std::nullopt;
    // A request of a queue pair that none was seen of so far; it may have passed before its events
    // came.
    const auto queue = std::ranges::find_if(it->second, [](const SendQueue& candidate) {
        return candidate.awaits_first_packet() || candidate.lacks_first_packet();
    });
    if (queue == it->second.end() || queue->lacks_first_packet())
        return std::nullopt;
    const auto early = early_.find({packet.destination, packet.dest_qpn});
    queue->begin_at(early == early_.end() ? packet : early->second);
    return queue->account(packet);
}

// Who at `source` may have sent something to `role`: several clients have queue pairs of the same
// number. Where no log has told of the address yet, the other of two programs, if that is not known
// to be elsewhere.
std::vector<std::string> Join::peers_at(const std::string& source, const std::string& role) const {
    std::vector<std::string> found;
    const auto [begin, end] = roles_.equal_range(source);
    for (auto it = begin; it != end; ++it)
        if (it->second != role)
            found.push_back(it->second);
    const std::string other = other_role(role);
    const auto is_other = [&](const auto& entry) { return entry.second == other; };
    if (found.empty() && (source.empty() || std::ranges::none_of(roles_, is_other)))
        found.push_back(other);
    return found;
}

// The role at that address whose log tells of the queue pair.
std::optional<std::string> Join::role_with(const std::string& address, std::uint32_t qpn) const {
    const auto [begin, end] = roles_.equal_range(address);
    for (auto it = begin; it != end; ++it)
        if (made_.contains({it->second, qpn}))
            return it->second;
    return std::nullopt;
}

std::optional<SetUp> Join::set_up_of(const CmKey& message) {
    const CommId own{message.source, message.local_id};
    if (message.local_qpn)
        connections_[own] = *message.local_qpn;
    const auto sender = connections_.find(own);
    if (sender != connections_.end()) {
        if (auto role = role_with(message.source, sender->second))
            return SetUp{SetUp::By::ConnectionManager, *std::move(role), sender->second};
        return std::nullopt;
    }
    // A reject may come from an end that has no queue pair yet: it answers the other one's.
    const auto receiver = connections_.find({message.destination, message.remote_id});
    if (receiver == connections_.end())
        return std::nullopt;
    if (const auto role = role_with(message.destination, receiver->second))
        for (const std::string& sender_role : peers_at(message.source, *role))
            return SetUp{SetUp::By::ConnectionManager, sender_role, std::nullopt};
    return std::nullopt;
}

std::optional<SetUp> Join::set_up_of(const SegmentKey& segment) const {
    const bool to_server = ports_.contains(segment.destination_port);
    if (!to_server && !ports_.contains(segment.source_port))
        return std::nullopt;
    if (!to_server)
        return SetUp{SetUp::By::Exchange, "server", std::nullopt};
    const auto clients = peers_at(segment.source, "server");
    return SetUp{SetUp::By::Exchange, clients.empty() ? "client" : clients.front(), std::nullopt};
}

Origin Join::origin_of(const PacketRow& row) {
    const auto either = [](const auto& found) { return found ? Origin(*found) : Origin(); };
    if (row.key)
        return either(place_of(*row.key));
    if (row.cm)
        return either(set_up_of(*row.cm));
    if (row.segment)
        return either(set_up_of(*row.segment));
    return {};
}

bool Join::was_misled() const {
    return std::ranges::any_of(queues_, [](const auto& entry) {
        return std::ranges::any_of(entry.second, &SendQueue::was_moved);
    });
}

void Join::begin_as(const Join& other) {
    for (auto& [key, queues] : queues_) {
        const auto same = other.queues_.find(key);
        for (std::size_t i = 0; same != other.queues_.end() && i < queues.size(); ++i)
            queues[i].begin_as(same->second.at(i));
    }
}

std::vector<const WorkRequest*> Join::work_requests() const {
    std::vector<const WorkRequest*> all;
    for (const auto& [key, queues] : queues_)
        for (const SendQueue& queue : queues)
            queue.for_each([&](const WorkRequest& request) { all.push_back(&request); });
    return all;
}

}  // namespace timeline

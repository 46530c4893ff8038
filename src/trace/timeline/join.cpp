#include "trace/timeline/join.hpp"

#include <algorithm>

namespace timeline {

namespace key = runlog::key;

namespace {

std::string other_role(const std::string& role) {
    return role == "server" ? "client" : "server";
}

}  // namespace

const WorkRequest* Join::learn(const runlog::Event& event) {
    if (event.is_one_of({"post_send", "wc"}))
        return request_of(event);
    collectives_.learn(event);
    const std::size_t made = pairs_.all().size();
    const logged::QueuePair* pair = pairs_.learn(event);
    if (const logged::Device* device = pairs_.devices().of(event)) {
        place(event.role, device->address());
    } else if (const auto port = event[key::port]; port && event.is("ready")) {
        ports_.emplace(*port, event.role);
    } else if (pair != nullptr) {
        const QpKey key{pair->role, pair->qpn};
        if (pairs_.all().size() > made)
            begin_queue(queues_[key].all);
        if (pair->dest_qpn && logged::QueuePair::is_state(event))
            learn_peer(key, *pair->dest_qpn);
    }
    return nullptr;
}

void Join::place(const std::string& role, const std::string& address) {
    const auto [begin, end] = roles_.equal_range(address);
    if (std::none_of(begin, end, [&](const auto& entry) { return entry.second == role; }))
        roles_.emplace(address, role);
}

const WorkRequest* Join::request_of(const runlog::Event& event) {
    const auto qpn = event[key::qpn];
    if (!qpn)
        return nullptr;
    std::vector<SendQueue>& queues = queues_[{event.role, *qpn}].all;
    if (queues.empty())
        begin_queue(queues);  // a log without its qp event
    if (event.is("wc"))
        return queues.back().complete(event);
    const WorkRequest* request = queues.back().add(event, posts_, collectives_.learn(event));
    posts_ += request != nullptr;
    return request;
}

// Reuses the queue of a queue pair without posts: that one will not post any more.
void Join::begin_queue(std::vector<SendQueue>& queues) {
    if (queues.empty() || queues.back().has_posts())
        queues.emplace_back();
}

void Join::learn_peer(const QpKey& key, std::uint32_t dest_qpn) {
    const auto add = [](std::vector<std::uint32_t>& all, std::uint32_t qpn) {
        std::erase(all, qpn);
        all.push_back(qpn);
    };
    add(peers_[key], dest_qpn);
    add(senders_[{key.first, dest_qpn}], key.second);
}

std::optional<PostedRequest> Join::cause_of(const PacketKey& packet) {
    const auto place = place_of(packet);
    return place ? std::optional(place->cause()) : std::nullopt;
}

// The source QPN also identifies the sender of a multicast datagram.
std::optional<RequestPacket> Join::place_of_datagram(const PacketKey& packet) {
    const auto [begin, end] = roles_.equal_range(packet.source);
    for (auto it = begin; it != end; ++it)
        if (const auto place = account({it->second, *packet.source_qpn}, packet))
            return place;
    return std::nullopt;
}

std::optional<RequestPacket> Join::place_of(const PacketKey& packet) {
    if (packet.source_qpn)
        return place_of_datagram(packet);
    if (packet.is_response)
        return place_of_response(packet);
    const QpKey receiving{packet.destination, packet.dest_qpn};
    const auto early = early_.find(receiving);
    const auto place = place_of_request(packet);
    if (!place && early == early_.end())
        early_.emplace(receiving, packet);
    else if (place && early != early_.end() && early->second.psn == packet.psn)
        early_.erase(early);
    return place;
}

std::optional<RequestPacket> Join::place_of_response(const PacketKey& packet) {
    const auto [begin, end] = roles_.equal_range(packet.destination);
    for (auto it = begin; it != end; ++it) {
        const QpKey poster{it->second, packet.dest_qpn};
        if (!peers_.contains(poster))
            continue;
        if (const auto place = account(poster, packet))
            return place;
    }
    return std::nullopt;
}

std::optional<RequestPacket> Join::place_of_request(const PacketKey& packet) {
    // Newest first: several queue pairs may have used the number one after the other.
    const auto first_of = [&](const std::string& role, const std::vector<std::uint32_t>& qpns) {
        for (auto qpn = qpns.rbegin(); qpn != qpns.rend(); ++qpn)
            if (auto place = account({role, *qpn}, packet))
                return place;
        return std::optional<RequestPacket>();
    };
    bool is_known = false;  // the receiver
    const auto [begin, end] = roles_.equal_range(packet.destination);
    for (auto it = begin; it != end; ++it) {
        const auto peers = peers_.find({it->second, packet.dest_qpn});
        if (peers == peers_.end())
            continue;
        is_known = true;
        for (const std::string& role : peers_at(packet.source, it->second))
            if (auto place = first_of(role, peers->second))
                return place;
    }
    if (is_known)
        return std::nullopt;
    const auto [first, last] = roles_.equal_range(packet.source);
    for (auto it = first; it != last; ++it)
        if (const auto own = senders_.find({it->second, packet.dest_qpn}); own != senders_.end())
            if (auto place = first_of(it->second, own->second))
                return place;
    return std::nullopt;
}

// Programs may begin each connection with the same PSN. A packet with this PSN belongs to the next
// connection if all packets of the current one have passed.
std::optional<RequestPacket> Join::account_in_turn(Queues& poster, const PacketKey& packet) {
    auto& [queues, current] = poster;
    if (queues.size() == 1)
        return queues.front().account(packet);
    if (!packet.is_response && queues[current].is_done())
        for (std::size_t next = current + 1; next < queues.size(); ++next)
            if (queues[next].would_begin_with(packet.psn)) {
                current = next;
                break;
            }
    if (const auto place = queues[current].account(packet))
        return place;
    for (std::size_t i = queues.size(); i-- > 0;)
        if (const auto place = queues[i].account(packet)) {
            current = i;
            return place;
        }
    return std::nullopt;
}

std::optional<RequestPacket> Join::account(const QpKey& poster, const PacketKey& packet) {
    const auto it = queues_.find(poster);
    if (it == queues_.end())
        return std::nullopt;
    if (const auto place = account_in_turn(it->second, packet))
        return place;
    if (packet.is_response)
        return std::nullopt;
    // A request of a queue pair without packets so far. It may have passed before its events were
    // read.
    const auto queue = std::ranges::find_if(it->second.all, [](const SendQueue& candidate) {
        return candidate.awaits_first_packet() || candidate.lacks_first_packet();
    });
    if (queue == it->second.all.end() || queue->lacks_first_packet())
        return std::nullopt;
    const auto early = early_.find({packet.destination, packet.dest_qpn});
    queue->begin_at(early == early_.end() ? packet : early->second);
    return queue->account(packet);
}

// Returns the roles at `source` that may have sent something to `role`: several clients may have
// queue pairs with the same number. If no log has the address yet, returns the other one of two
// programs, unless it is known to be elsewhere.
std::vector<std::string> Join::peers_at(const std::string& source, const std::string& role) const {
    std::vector<std::string> found;
    const auto [begin, end] = roles_.equal_range(source);
    for (auto it = begin; it != end; ++it)
        if (it->second != role)
            found.push_back(it->second);
    // One log may contain both ends.
    if (std::any_of(begin, end, [&](const auto& entry) { return entry.second == role; }))
        found.push_back(role);
    const std::string other = other_role(role);
    const auto is_other = [&](const auto& entry) { return entry.second == other; };
    if (found.empty() && (source.empty() || std::ranges::none_of(roles_, is_other)))
        found.push_back(other);
    return found;
}

// Returns the role at that address whose log contains the queue pair.
std::optional<std::string> Join::role_with(const std::string& address, std::uint32_t qpn) const {
    const auto [begin, end] = roles_.equal_range(address);
    for (auto it = begin; it != end; ++it)
        if (pairs_.find(it->second, qpn) != nullptr)
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
    // A reject may come from an end without a queue pair: it answers the other end's.
    const auto receiver = connections_.find({message.destination, message.remote_id});
    if (receiver == connections_.end())
        return std::nullopt;
    if (const auto role = role_with(message.destination, receiver->second))
        for (const std::string& sender_role : peers_at(message.source, *role))
            return SetUp{SetUp::By::ConnectionManager, sender_role, std::nullopt};
    return std::nullopt;
}

std::optional<SetUp> Join::set_up_of(const SegmentKey& segment) const {
    if (const auto server = ports_.find(segment.destination_port); server != ports_.end()) {
        const auto clients = peers_at(segment.source, server->second);
        return SetUp{SetUp::By::Exchange, clients.empty() ? "client" : clients.front(),
                     std::nullopt};
    }
    const auto server = ports_.find(segment.source_port);
    if (server == ports_.end())
        return std::nullopt;
    return SetUp{SetUp::By::Exchange, server->second, std::nullopt};
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

bool Join::has_queue(bool (SendQueue::*is_it)() const) const {
    return std::ranges::any_of(
        queues_, [&](const auto& entry) { return std::ranges::any_of(entry.second.all, is_it); });
}

bool Join::may_be_misled() const {
    return has_queue(&SendQueue::may_be_moved);
}

bool Join::was_misled() const {
    return has_queue(&SendQueue::was_moved);
}

void Join::begin_as(const Join& other) {
    for (auto& [key, queues] : queues_) {
        const auto same = other.queues_.find(key);
        for (std::size_t i = 0; same != other.queues_.end() && i < queues.all.size(); ++i)
            queues.all[i].begin_as(same->second.all.at(i));
    }
}

std::vector<const WorkRequest*> Join::work_requests() const {
    std::vector<const WorkRequest*> all;
    for (const auto& [key, queues] : queues_)
        for (const SendQueue& queue : queues.all)
            queue.for_each([&](const WorkRequest& request) { all.push_back(&request); });
    return all;
}

}  // namespace timeline

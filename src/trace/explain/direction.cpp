#include "trace/explain/direction.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/flow/host.hpp"

namespace explain {
namespace {

// By a number, in the order of the logs.
using ByNumber = std::unordered_map<std::uint32_t, std::vector<const LoggedQueuePair*>>;

// Returns the queue pair with this number and the highest non-negative `score`; nullptr: none.
template <typename Score>
const LoggedQueuePair* best_of(const ByNumber& pairs, std::uint32_t number, Score score) {
    const LoggedQueuePair* best = nullptr;
    int highest = -1;
    if (const auto found = pairs.find(number); found != pairs.end())
        for (const LoggedQueuePair* pair : found->second)
            if (const int one = score(*pair); one > highest) {
                highest = one;
                best = pair;
            }
    return best;
}

bool is_of(const LoggedQueuePair& pair, const std::string& role) {
    return role.empty() || pair.role == role;
}

// For an unreliable direction, the tracker knows no peer, and any end may have sent a damaged
// packet.
class Builder {
  public:
    Builder(const Traffic& traffic, const Logs& logs) : traffic_(traffic), logs_(logs) {
        for (const LoggedQueuePair& pair : logs_.queue_pairs()) {
            by_qpn_[pair.qpn].push_back(&pair);
            if (pair.dest_qpn)
                by_peer_[*pair.dest_qpn & in_packets].push_back(&pair);
        }
    }

    std::vector<Direction> made() {
        for (const KeptStream& stream : traffic_.streams())
            add(stream);
        for (const LoggedQueuePair& pair : logs_.queue_pairs())
            if (!pair.posts.empty() && !used_.contains(&pair) && has_sent(pair))
                add(pair);
        return std::move(made_);
    }

  private:
    static constexpr std::uint32_t in_packets = 0xffffff;  // the bits of a number that packets have

    static bool has_sent(const LoggedQueuePair& pair) {
        return pair.dest_qpn || pair.is_datagram();
    }

    void add(const KeptStream& stream) {
        Direction made;
        made.stream = &stream;
        if (stream.peer)
            made.back = &traffic_.streams()[*stream.peer];
        made.dest_qpn = stream.key.dest_qpn;
        made.requester_role = logs_.role_at(stream.key.src);
        made.responder_role = logs_.role_at(stream.key.dst);
        made.from = logs_.name_of(stream.key.src, stream.key.network);
        made.to = logs_.name_of(stream.key.dst, stream.key.network);
        sort(stream, /*requests=*/true, made);
        if (made.back != nullptr)
            sort(*made.back, /*requests=*/false, made);
        if (made.requests.empty() && made.damaged.empty())
            return;
        std::ranges::sort(made.damaged, {}, &Seen::frame);
        find_pairs(made);
        made_.push_back(std::move(made));
    }

    // If a host leaves the ICRC to its adapter, all of its own packets have a wrong one.
    static void sort(const KeptStream& stream, bool requests, Direction& made) {
        const bool is_icrc_told = stream.damaged * 2 <= stream.packets.size();
        for (const Seen& seen : stream.packets) {
            if (seen.is_request() != requests)
                continue;
            if (seen.is_damaged && is_icrc_told)
                made.damaged.push_back(&seen);
            else
                (requests ? made.requests : made.responses).push_back(&seen);
        }
    }

    void find_pairs(Direction& made) {
        const KeptStream& stream = *made.stream;
        const Seen* first = made.requests.empty() ? nullptr : made.requests.front();
        const ByNumber& candidates = made.is_datagram() ? by_qpn_ : by_peer_;
        const auto number = made.is_datagram() ? stream.key.src_qpn : made.dest_qpn;
        made.requester = best_of(candidates, number, [&](const LoggedQueuePair& pair) {
            if (!is_of(pair, made.requester_role) ||
                (made.requester_role.empty() && logs_.knows(stream.key.src)))
                return -1;
            if (pair.is_datagram() != made.is_datagram())
                return -1;
            if (made.is_datagram())
                return 1;
            if (pair.role == made.responder_role)
                return -1;
            // The log of the sender is missing: a queue pair of another host may have a peer with
            // the same number.
            const auto peer = flow::host_of_gid(pair.dest_gid);
            if (made.requester_role.empty() && peer && *peer != stream.key.dst &&
                (first == nullptr || pair.sq_psn != first->psn))
                return -1;
            int score = 0;
            if (first != nullptr && pair.sq_psn == first->psn)
                score += 4;
            if (made.back != nullptr && pair.qpn == made.back->key.dest_qpn)
                score += 2;
            return score + (pair.posts.empty() ? 0 : 1);
        });
        const std::string own = made.requester != nullptr ? made.requester->role : std::string();
        made.responder = best_of(by_qpn_, made.dest_qpn, [&](const LoggedQueuePair& pair) {
            if (!is_of(pair, made.responder_role) ||
                (made.responder_role.empty() && (pair.role == own || logs_.knows(stream.key.dst))))
                return -1;
            int score = 0;
            if (made.requester != nullptr && pair.dest_qpn == made.requester->qpn)
                score += 2;
            if (first != nullptr && pair.rq_psn == first->psn)
                score += 4;
            return score;
        });
        finish(made);
        made.path_mtu = made.requester != nullptr && made.requester->path_mtu != 0
                            ? static_cast<std::uint32_t>(made.requester->path_mtu)
                            : stream.facts.path_mtu;
    }

    void finish(Direction& made) {
        if (made.requester != nullptr) {
            used_.insert(made.requester);
            made.requester_role = made.requester->role;
        }
        if (made.responder != nullptr)
            made.responder_role = made.responder->role;
    }

    void add(const LoggedQueuePair& pair) {
        Direction made;
        made.requester = &pair;
        made.from = made.requester_role = pair.role;
        made.dest_qpn = pair.dest_qpn.value_or(pair.posts.front().dest_qpn);
        made.path_mtu = static_cast<std::uint32_t>(pair.path_mtu);
        const auto host = flow::host_of_gid(pair.dest_gid);
        if (host)
            made.responder_role = logs_.role_at(*host);
        made.responder = best_of(by_qpn_, made.dest_qpn, [&](const LoggedQueuePair& other) {
            const bool fits = &other != &pair &&
                              (made.responder_role.empty() ? other.role != pair.role
                                                           : other.role == made.responder_role);
            return fits ? (other.dest_qpn == pair.qpn ? 1 : 0) : -1;
        });
        finish(made);
        made.to = !made.responder_role.empty() ? made.responder_role
                  : host                       ? flow::text(*host)
                                               : std::string("its peer");
        made_.push_back(std::move(made));
    }

    const Traffic& traffic_;
    const Logs& logs_;
    ByNumber by_qpn_, by_peer_;
    std::set<const LoggedQueuePair*> used_;
    std::vector<Direction> made_;
};

}  // namespace

bool Direction::is_reliable() const {
    if (stream != nullptr)
        return stream->key.transport == wire::Transport::Rc ||
               stream->key.transport == wire::Transport::Xrc;
    return requester != nullptr && !requester->is_datagram() && requester->type != "UC";
}

bool Direction::is_datagram() const {
    return stream != nullptr ? stream->key.transport == wire::Transport::Ud
                             : requester != nullptr && requester->is_datagram();
}

std::string Direction::where() const {
    return fmt::format("{} → {}, QP {:#08x}", from, to, dest_qpn);
}

std::int64_t Direction::begin_ns() const {
    if (!requests.empty())
        return requests.front()->t_ns;
    return requester != nullptr && !requester->posts.empty() ? requester->posts.front().t_ns : 0;
}

const Seen* Direction::first_response() const {
    const auto found = std::ranges::find_if(responses, [&](const Seen* response) {
        return !requests.empty() && response->frame > requests.front()->frame;
    });
    return found == responses.end() ? nullptr : *found;
}

const Seen* Direction::largest_request() const {
    const auto found = std::ranges::max_element(requests, {}, &Seen::payload);
    return found == requests.end() ? nullptr : *found;
}

Directions::Directions(std::vector<Direction> all) : all_(std::move(all)) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
        by_requester_.try_emplace(all_[i].requester, i);
        by_responder_.try_emplace(all_[i].responder, i);
        by_place_.try_emplace(all_[i].where(), i);
    }
}

Directions directions_of(const Traffic& traffic, const Logs& logs) {
    return Directions(Builder(traffic, logs).made());
}

}  // namespace explain

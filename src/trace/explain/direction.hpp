// The requests of one queue pair, their responses, and the entries in the logs of both ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/explain/logs.hpp"
#include "trace/explain/traffic.hpp"

namespace explain {

struct Direction {
    const KeptStream* stream = nullptr;  ///< towards the responder; nullptr: no packet was captured
    const KeptStream* back = nullptr;    ///< from the responder; nullptr: none or unknown
    const LoggedQueuePair* requester = nullptr;  ///< nullptr: in no log
    const LoggedQueuePair* responder = nullptr;
    std::string requester_role, responder_role;  ///< roles with a log; empty: none
    std::string from, to;                        ///< "client", or an address
    std::uint32_t dest_qpn = 0;
    std::uint32_t path_mtu = 0;  ///< the requester's, bytes; 0: unknown

    std::vector<const Seen*> requests;   ///< without damaged ones
    std::vector<const Seen*> responses;  ///< without damaged ones
    std::vector<const Seen*> damaged;    ///< requests and responses, in capture order

    bool is_reliable() const;
    bool is_datagram() const;
    /// "client → server, QP 0x000012".
    std::string where() const;
    /// The time when the first request was posted or captured; 0: never.
    std::int64_t begin_ns() const;
    /// The first response behind the first request; nullptr: none. Those before it belong to an
    /// earlier connection.
    const Seen* first_response() const;
    /// The first request with the most payload; nullptr: none.
    const Seen* largest_request() const;
};

/// In order: those of the capture, and then those that only logs have.
class Directions {
  public:
    explicit Directions(std::vector<Direction> all);

    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }
    std::size_t size() const { return all_.size(); }
    const Direction& operator[](std::size_t index) const { return all_[index]; }

    /// The first one with this requester, responder, or Direction::where(); nullptr: none.
    const Direction* of_requester(const LoggedQueuePair& pair) const {
        return found(by_requester_, &pair);
    }
    const Direction* of_responder(const LoggedQueuePair& pair) const {
        return found(by_responder_, &pair);
    }
    const Direction* at(const std::string& where) const { return found(by_place_, where); }

  private:
    template <typename Map, typename Key>
    const Direction* found(const Map& map, const Key& key) const {
        const auto at = map.find(key);
        return at == map.end() ? nullptr : &all_[at->second];
    }

    std::vector<Direction> all_;
    std::unordered_map<const LoggedQueuePair*, std::size_t> by_requester_, by_responder_;
    std::unordered_map<std::string, std::size_t> by_place_;
};

/// Returns the direction of each queue pair that sent a request, or posted one according to a log.
/// Pointers are into `traffic` and `logs`.
Directions directions_of(const Traffic& traffic, const Logs& logs);

}  // namespace explain

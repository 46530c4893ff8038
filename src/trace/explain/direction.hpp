// The requests of one queue pair, their responses, and the entries in the logs of both ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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
    /// The responder's queue pair, in words.
    std::string target() const;
    /// The time when the first request was posted or captured; 0: never.
    std::int64_t begin_ns() const;
    /// The first response behind the first request; nullptr: none. Those before it belong to an
    /// earlier connection.
    const Seen* first_response() const;
};

/// Returns the direction of each queue pair that sent a request, or posted one according to a log.
/// Pointers are into `traffic` and `logs`.
std::vector<Direction> directions_of(const Traffic& traffic, const Logs& logs);

}  // namespace explain

// The requests of one queue pair, what answered them, and what the logs of both ends say of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/explain/logs.hpp"
#include "trace/explain/traffic.hpp"

namespace explain {

struct Direction {
    const Stream* stream = nullptr;  ///< towards the responder; nullptr: no packet was captured
    const Stream* back = nullptr;    ///< from the responder; nullptr: none, or not known which
    const LoggedQueuePair* requester = nullptr;  ///< nullptr: in no log
    const LoggedQueuePair* responder = nullptr;
    std::string requester_role, responder_role;  ///< whose logs are there; empty: none
    std::string from, to;                        ///< "client", or an address
    std::uint32_t dest_qpn = 0;
    std::uint32_t path_mtu = 0;  ///< the requester's, bytes; 0: unknown

    std::vector<const Seen*> requests;   ///< without damaged ones
    std::vector<const Seen*> responses;  ///< the same
    std::vector<const Seen*> damaged;    ///< of both, in the order of the capture

    bool is_reliable() const;
    bool is_datagram() const;
    /// "client → server, QP 0x000012".
    std::string where() const;
    /// The queue pair of the responder, as a person calls it.
    std::string target() const;
    /// When the first request was posted or passed; 0: never.
    std::int64_t begin_ns() const;
};

/// Of each queue pair that sent a request, or that a log says it posted one. Pointers are into
/// `traffic` and `logs`.
std::vector<Direction> directions_of(const Traffic& traffic, const Logs& logs);

}  // namespace explain

// Assigns packets to connections, and finds where their PSNs begin.
//
// A connection here has one requester and one responder: requests in one direction, responses in
// the other. If both ends post requests, there are two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/flow/tracker.hpp"
#include "trace/predict/packet.hpp"

namespace predict {

struct Connection {
    std::string requester;  // numeric IP addresses
    std::string responder;
    std::uint32_t dest_qpn = 0;  // the responder's queue pair
    /// The lowest PSN of a request: if the very first packet was lost, it is retransmitted.
    wire::Psn first_psn;
    flow::PathMtu path_mtu = 0;  // 0: unknown
};

/// Sets each packet's connection, offset and psns. A response before all requests, or to a request
/// that was not captured, keeps Packet::no_connection. `packets`: in capture order, each with its
/// stream number. `tracker` must have processed all of them.
std::vector<Connection> connect(std::vector<ReliablePacket>& packets, const flow::Tracker& tracker);

}  // namespace predict

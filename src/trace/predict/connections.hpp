// Which packets are of one connection, and where its PSNs begin.
//
// A connection here is a requester's queue pair with the responder's: requests one way, their
// responses the other. Where both ends post requests there are two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/flow/tracker.hpp"
#include "trace/predict/packet.hpp"

namespace predict {

struct Connection {
    std::string requester;  // IP addresses, digits
    std::string responder;
    std::uint32_t dest_qpn = 0;  // the responder's queue pair
    /// The lowest one of a request: where the very first was lost, it is retransmitted.
    wire::Psn first_psn;
    flow::PathMtu path_mtu = 0;  // 0: unknown
};

/// Fills in each packet's connection, offset and psns. A response in front of all requests, or to
/// none that was captured, keeps Packet::no_connection. `packets`: in the order of the capture,
/// each with the number of its stream. `tracker` has had them all.
std::vector<Connection> connect(std::vector<Packet>& packets, const flow::Tracker& tracker);

}  // namespace predict

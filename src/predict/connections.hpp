// Which packets are of one connection, and where its PSNs begin.
//
// A connection here is a requester's queue pair with the responder's: requests one way, their
// answers the other. Where both ends post requests there are two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predict/packet.hpp"

namespace predict {

struct Connection {
    std::string requester;  // IP addresses, digits
    std::string responder;
    std::uint32_t dest_qpn = 0;  // the responder's queue pair
    /// The lowest one of a request: where the very first was lost, it comes again.
    wire::Psn first_psn;
    std::uint32_t path_mtu = 0;  // as the packets show it; 0: none of them does
};

/// Fills in each packet's connection, offset and psns. A response that answers nothing captured
/// keeps Packet::no_connection. `packets`: in the order of the capture.
std::vector<Connection> connect(std::vector<Packet>& packets);

}  // namespace predict

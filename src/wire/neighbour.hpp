// How hosts of an Ethernet link find each other: ARP for IPv4 (RFC 826), neighbour discovery for IPv6 (RFC 4861). A host
// asks who has an address, and its owner replies.
#pragma once

#include <optional>
#include <string>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace wire {

struct Neighbour {
    bool is_reply = false;
    /// Who asks, or whose address a reply tells. None: a host that looks for another owner of the address that it wants.
    IpAddress sender;
    IpAddress target;  ///< whom a request asks for, or whom a reply is for

    /// "ARP who has 192.0.2.1? Tell 192.0.2.2", "ARP reply of 192.0.2.1"; of neighbour discovery, "NDP who …".
    std::string text() const;
};

/// Returns nullopt if `packet` is no such message. `frame`: the bytes from which it was decoded.
std::optional<Neighbour> neighbour(const Packet& packet, util::Bytes frame);

}  // namespace wire

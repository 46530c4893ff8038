// ARP for IPv4 over Ethernet (RFC 826): a host asks who has an address, and its owner replies.
#pragma once

#include <optional>
#include <string>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace wire {

struct Arp {
    bool is_reply = false;
    Ipv4Address sender, target;

    /// "ARP who has 192.0.2.1? Tell 192.0.2.2", "ARP reply of 192.0.2.1".
    std::string text() const;
};

/// Returns nullopt if `packet` is no such message. `frame`: the bytes from which it was decoded.
std::optional<Arp> arp(const Packet& packet, util::Bytes frame);

}  // namespace wire

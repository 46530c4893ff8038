// Where forged packets may go: to the lab's own addresses and nowhere else.
//
// They are documentation prefixes, which no network in the world routes or assigns: 192.0.2.0/24
// (TEST-NET-1, RFC 5737) and 2001:db8::/64 (of 2001:db8::/32, RFC 3849).
#pragma once

#include "util/address.hpp"
#include "wire/packet.hpp"

namespace forge {

bool is_in_lab(const wire::Ipv4Address& address);
/// Also an IPv4-mapped address of the lab.
bool is_in_lab(const wire::Ipv6Address& address);
bool is_in_lab(const util::Address& address);

/// Throws util::Error naming the address where it is none of the lab's.
void require_lab(const util::Address& address);

/// Throws util::Error where `packet` is no RoCEv2 or ESP packet from one of the lab's addresses to
/// another, without a VLAN tag.
void require_lab(const wire::Packet& packet);

}  // namespace forge

// A decoded packet as text: its kind, PSN, queue pair and header fields.
#pragma once

#include <string>

#include "util/composer.hpp"
#include "util/cursor.hpp"
#include "util/style.hpp"
#include "wire/packet.hpp"

namespace wire {

/// One line without time and addresses, in the style of
///
///   RC SEND Only                 psn 0x5d2f11 qp 0x000012 ack-req payload 64
///
///   RC Acknowledge               psn 0x5d2f11 qp 0x000013 ACK msn 1
///
///   CM ReadyToUse                comm 0xa21db192 to 0x0624dbbc
///
/// PSNs and QPNs are 6 hexadecimal digits, keys and Q_Keys 8; lengths are decimal bytes. A packet
/// that cannot be decoded shows the reason; one that is not RoCE shows its kind. `frame`: the bytes
/// from which `packet` was decoded, needed only for TCP ports.
std::string packet_summary(const Packet& packet, const util::TextStyle& style = util::TextStyle(),
                           util::Bytes frame = {});

/// Appends the same text to `out`. Does not allocate for a RoCE packet that is neither a
/// management datagram nor malformed, once the string behind `out` is large enough.
void add_summary(util::Composer& out, const Packet& packet, const util::TextStyle& style,
                 util::Bytes frame);

/// Only the connection manager's message: "comm 0x3d1c2f01 qpn 0x000012 psn ...".
std::string cm_details(const Cm& cm);

}  // namespace wire

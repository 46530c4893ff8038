// A decoded packet in words: what it is, its PSN and queue pair, and what its headers say.
#pragma once

#include <string>

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
/// PSNs and QPNs are 6 hexadecimal digits, keys and Q_Keys 8; lengths are decimal bytes. What
/// cannot be decoded says why; what is no RoCE is named. `frame`: what `packet` was decoded from,
/// needed only for TCP's ports.
std::string packet_summary(const Packet& packet, const util::TextStyle& style = util::TextStyle(),
                           util::Bytes frame = {});

/// The same behind `out`; of a RoCE packet that is neither the connection manager's nor malformed
/// without allocating, once `out` is large enough.
void append_summary(std::string& out, const Packet& packet, const util::TextStyle& style,
                    util::Bytes frame);

/// The message of the connection manager alone: "comm 0x3d1c2f01 qpn 0x000012 psn ...".
std::string cm_details(const Cm& cm);

}  // namespace wire

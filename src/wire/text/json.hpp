// A decoded packet as one JSON object, nested by header. A header that the packet does not have is
// not there; names are Wireshark's, without the protocol's prefix (bth.destqp is
// infiniband.bth.destqp).
//
//   frame          number in the capture, from 1
//   time           seconds since 1970-01-01 UTC;  t_ns the same in nanoseconds, exactly
//   len, caplen    bytes on the wire, and of these captured
//   interface_id   of a pcapng file; with them interface_name and comment, where it has them
//   eth            dst src type                     type as behind the addresses: 33024 with a VLAN
//   vlan           [{priority dei id etype}]        outermost first
//   sll            etype hatype pkttype             a Linux "cooked" capture, instead of eth
//   ip             src dst dscp ecn len id df ttl proto
//   ipv6           src dst dscp ecn flow plen nxt hlim
//   grh            ipver tclass flowlabel paylen nxthdr hoplmt sgid dgid
//   udp            srcport dstport length
//   bth            opcode opcode_name se m padcnt tver p_key fecn becn destqp a psn
//   rdeth          eecnxt
//   dceth          bytes                            not in Wireshark; 20 bytes as hexadecimal text
//   deth           q_key srcqp
//   xrceth         xrcsrq                           not in Wireshark
//   feth           plt sel                          not in Wireshark
//   reth           va r_key dmalen
//   atomiceth      va r_key swapdt cmpdt
//   aeth           syndrome msn type, and by type: credits | timer_ms | error
//                  type: "ACK", "RNR NAK", "NAK", "reserved"; credits null: no flow control
//   atomicacketh   origremdt
//   immdt, ieth    a number: the immediate data, the rkey to invalidate
//   mad            baseversion mgmtclass classversion method status classspecific transactionid
//                  attributeid attributemodifier
//   cm             message, then its fields: cm_json.cpp
//   payload_len    bytes on the wire without padding and ICRC
//   icrc           value status; computed where it is bad, reason where it is unchecked
//                  status: "good", "bad", "unchecked"; value null: not captured
//   tcp            srcport dstport flags len        not RoCE
//   not_roce       null, or what the frame is instead: "TCP 45678 → 18515 len 32"
//   truncated      null, or what the snap length, or a switch before the capture, cut off
//   malformed      null, or why the packet is not valid
//
// Numbers are plain integers, as in the run logs, and exact; readers that keep 53 bits of a number
// (JavaScript, jq before 1.7) round 64-bit fields. Flags are true and false. Addresses and names
// are text; private data is hexadecimal text.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "util/cursor.hpp"
#include "util/json.hpp"
#include "wire/capture_notes.hpp"
#include "wire/packet.hpp"

namespace wire {

/// `time` since 1970. `frame`: what `packet` was decoded from; `length`: bytes it had on the wire.
util::Json packet_json(std::uint64_t number, std::chrono::nanoseconds time, const Packet& packet,
                       util::Bytes frame, std::size_t length, const CaptureNotes& notes = {});

/// The object under "cm".
util::Json cm_json(const Cm& cm);

}  // namespace wire

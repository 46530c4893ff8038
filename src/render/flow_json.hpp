// Conversations and totals of a capture as JSON objects, one a line.
//
//   flow           number from 1, in the order of their first packets; then
//   transport      "RC", ...;  network "IPv4", "IPv6", "GRH"
//   paired_by      null: the other direction is not known; "CM", "run log", "DETH"; "ACK PSNs" is a
//                  guess, and paired_by_guess then true
//   path_mtu       bytes, null where it is not known;  captured_twice
//   directions     [the one that began, and where it is known the other]; of each:
//     src dst destqp srcqp     addresses as text; srcqp null where it is not known
//     packets bytes payload_bytes first_ns last_ns malformed
//     messages     {"RDMA WRITE": 3, ...}: by their last packets, retransmitted ones left out
//     requests     packets first_psn last_psn psns psns_per_second retransmitted late gaps missing
//                  restarts r_keys other_r_keys
//                  ack, read_first, read_last: null, or latencies in nanoseconds: count p50 p99 max
//                  left_out (of the percentiles, null where that is all of them);  unmeasured
//                  psns to missing and restarts only where PSNs are followed, not of datagrams
//     responses    packets first_psn last_psn acks counted_acks psns_acked most_acked naks rnr_naks
//                  repeated late gaps missing;  naks {"PSN Sequence Error": 1, ...}
//     marks        ce fecn becn cnps
//     icrc         checked bad
#pragma once

#include "trace/flow/conversation.hpp"
#include "util/json.hpp"

namespace render {

util::Json flow_json(const flow::Conversation& conversation);

/// {"totals": {...}}
util::Json flow_totals_json(const flow::Totals& totals);

}  // namespace render

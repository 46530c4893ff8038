// Conversations and totals of a capture as JSON objects, one per line.
//
//   flow           number from 1, in the order of their first packets
//   transport      "RC", ...;  network "IPv4", "IPv6", "GRH"
//   paired_by      null: the other direction is unknown; "CM", "run log", "DETH"; "ACK PSNs" is a
//                  guess, and paired_by_guess is then true
//   path_mtu       bytes, null if unknown;  captured_twice
//   directions     [the one that began, and the other if known]; each has
//     src dst destqp srcqp     addresses as text; srcqp null if unknown
//     packets bytes payload_bytes first_ns last_ns malformed
//     messages     {"RDMA WRITE": 3, ...}: counted by last packets, without retransmissions
//     requests     packets first_psn last_psn psns psns_per_second retransmitted late gaps missing
//                  restarts r_keys other_r_keys
//                  ack, read_first, read_last: null, or latencies in nanoseconds: count p50 p99 max
//                  left_out (not in the percentiles, which are null if that is all);  unmeasured
//                  psns to missing and restarts only if PSNs are followed, not for datagrams
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

// The table of first PSNs, as text and as JSON objects, one per direction:
//
//   run step       the directory's or capture's name; the lesson, null if run.json does not have it
//   from to        "client", "server"; `to` null if no log has the peer; IP addresses if no log has
//                  the direction
//   qpn dest_qpn   `qpn` null if neither a log nor the connection manager has it
//   first_psn      null if unknown;  hidden: the run log keeps it secret
//   chosen_by      null if unknown
//   readable       null without a capture; frame numbers, from 1, of
//     connect_request connect_reply tcp    messages that contain it in plaintext
//     bth                                  packets that have it in their BTH
#pragma once

#include <span>
#include <string>

#include "trace/timeline/first_psn.hpp"
#include "util/json.hpp"
#include "util/style.hpp"

namespace render {

std::string first_psns_text(std::span<const timeline::FirstPsns> runs, util::TextStyle style);

util::Json first_psn_json(const timeline::FirstPsns& run, const timeline::FirstPsn& direction);

}  // namespace render

// The table of first PSNs, for people, and as JSON objects, one a direction:
//
//   run step       the directory's or capture's name; the step, null where run.json does not say
//   from to        "client", "server"; `to` null where no log has the peer; IP addresses where no
//                  log has the direction
//   qpn dest_qpn   `qpn` null where neither a log nor the connection manager names it
//   first_psn      null where it is not known;  hidden: the run log keeps it secret
//   chosen_by      null where nothing says it
//   readable       null without a capture; frames, numbers from 1 on, of
//     connect_request connect_reply tcp    messages that announce it in the clear
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

// The table of first PSNs, for people, and as JSON objects, one a direction:
//
//   run step       the directory's name; the step, null where run.json does not say
//   from to        "client", "server"; `to` null where no log has the peer
//   qpn dest_qpn
//   first_psn      null where it is not known;  hidden: the run log keeps it secret
//   chosen_by      null where the log does not say
//   readable       null without a capture; frames, numbers from 1 on, of
//     connect_request connect_reply tcp    messages that announce it in the clear
//     bth                                  packets that have it in their BTH
#pragma once

#include <span>
#include <string>

#include "report/json.hpp"
#include "report/style.hpp"
#include "timeline/first_psn.hpp"

namespace report {

std::string first_psns_text(std::span<const timeline::FirstPsns> runs, Style style);

Json first_psn_json(const timeline::FirstPsns& run, const timeline::FirstPsn& direction);

}  // namespace report

// What holds of every step's run, and rows of its capture.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "support/lab.hpp"

namespace support {

/// The PSNs that a post_send event predicts.
std::set<std::uint32_t> psns_of(const runlog::Event& post);

/// Expects that the capture holds each packet the server's device counted, that none was dropped,
/// that rocecap and tshark read the same in all of them, and that each ICRC is good.
void expect_nothing_lost_and_all_understood(const LabRun& run);

/// The same of a capture that has the exchange's TCP, too; what the device counts is left out (it
/// does not count what comes for a queue pair that is gone).
void expect_whole(const LabRun& run);

/// Expects that the timeline gives every packet of a connected queue pair to a work request.
void expect_every_packet_joined(const LabRun& run);

/// The capture's packets that match `where`, as rows of these fields (rocecap decode).
using Rows = std::vector<std::vector<std::string>>;
Rows rows(const LabRun& run, const std::string& fields, const std::string& where);

/// Expects that a program ended with this code and one line on standard error, which says `says`.
void expect_one_sentence(const Outcome& outcome, int exit_code, const std::string& says);

/// The statuses of the completions in a log, in order.
std::vector<std::string> statuses(const std::vector<runlog::Event>& log);

}  // namespace support

// What holds of every step's run, and rows of its capture.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "support/lab.hpp"

namespace support {

/// The PSNs that a post_send event predicts.
std::set<std::uint32_t> psns_of(const runlog::Event& post);

/// Expects that all commands say the same of the run's connections, with its logs
/// (connection_agreement.hpp).
void expect_connections_agree(const LabRun& run);

/// Expects that the capture holds each packet the server's device counted, that none was dropped,
/// that rocecap and tshark read the same in all of them, and that each ICRC is good.
void expect_nothing_lost_and_all_understood(const LabRun& run);

/// Of it, also where the capture has the exchange's TCP: that none was dropped, that both read the
/// same, and each ICRC.
void expect_whole(const LabRun& run);
/// And that it holds each packet that the server's device counted. (What comes for a queue pair
/// that is gone it does not count.)
void expect_counted(const LabRun& run);

/// How many packets the timeline gives to a work request.
std::size_t joined_packets(const LabRun& run);
/// Expects that the timeline gives every packet of a connected queue pair to a work request.
void expect_every_packet_joined(const LabRun& run);

/// The capture's packets that match `where`, as rows of these fields (rocecap decode).
using Rows = std::vector<std::vector<std::string>>;
Rows rows(const LabRun& run, const std::string& fields, const std::string& where);
/// The same, each packet once: on a busy machine an ACK may be late, and its request is retransmitted.
Rows rows_once(const LabRun& run, const std::string& fields, const std::string& where);

/// Expects that a program ended with this code and one line on standard error, which says `says`.
void expect_one_sentence(const Outcome& outcome, int exit_code, const std::string& says);

/// The statuses of the completions in a log, in order.
std::vector<std::string> statuses(const std::vector<runlog::Event>& log);

}  // namespace support

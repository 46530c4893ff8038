// Checks for the runs of all lessons, and rows of their captures.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/lab.hpp"

namespace support {

/// The PSNs that a post_send event predicts.
std::set<std::uint32_t> psns_of(const runlog::Event& post);

/// Expects that all commands agree on the run's connections, with its logs
/// (connection_agreement.hpp).
void expect_connections_agree(const LabRun& run);

/// Expects that the capture contains all packets that the server's device counted, that none was
/// dropped, that rocecap and tshark decode all of them equally, and that each ICRC is valid.
void expect_nothing_lost_and_all_understood(const LabRun& run);

/// The part of these checks that also applies to a capture with TCP packets of the exchange: no
/// dropped packets, equal decoding, valid ICRCs.
void expect_whole(const LabRun& run);
/// The other part: the capture contains all packets that the server's device counted. (The device
/// does not count packets to a queue pair that does not exist.)
void expect_counted(const LabRun& run);

/// Returns the number of packets that the timeline assigns to work requests.
std::size_t joined_packets(const LabRun& run);
/// Expects that the timeline assigns all packets of connected queue pairs to work requests.
void expect_every_packet_joined(const LabRun& run);

/// Returns these fields of the capture's packets that match `where` (rocecap decode).
using Rows = std::vector<std::vector<std::string>>;
Rows rows(const LabRun& run, const std::string& fields, const std::string& where);
/// The same without duplicates: on a busy machine a late ACK may cause a retransmission.
Rows rows_once(const LabRun& run, const std::string& fields, const std::string& where);

/// Expects that a program ended with this code and one line with `says` on standard error.
void expect_one_sentence(const Outcome& outcome, int exit_code, const std::string& says);

/// Returns the texts of a log's notes that contain `part`.
std::vector<std::string> notes(const std::vector<runlog::Event>& log, std::string_view part);

/// Returns the statuses of the completions in a log, in order.
std::vector<std::string> statuses(const std::vector<runlog::Event>& log);

}  // namespace support

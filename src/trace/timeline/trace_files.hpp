// The files of a timeline: a capture and run logs, from a run directory or a command line.
#pragma once

#include <string>
#include <vector>

#include "capture/interface_choice.hpp"
#include "trace/flow/known_pairs.hpp"
#include "trace/timeline/log_file.hpp"
#include "trace/timeline/run_dir.hpp"

namespace timeline {

struct TraceFiles {
    std::string name;                       // the path as given
    bool is_run_dir = false;                // has a run.json
    bool is_stream = false;                 // the capture is standard input, as packets arrive
    std::string capture;                    // may not exist yet while the run is in progress
    std::vector<LogFile> logs;              // may not exist yet while the run is in progress
    RunInfo info;                           // without a run.json: the logs' roles and addresses
    capture::InterfaceChoice interface {};  // interface of the capture whose packets are read
    bool trust_port = false;                // see wire::RoceFlows
    std::string capture_role;               // role whose clock the capture has; empty: unknown
    /// Sentences about incomplete logs.
    std::vector<std::string> warnings;

    /// "20260101T000000Z_01_cm_write_read", "run.pcapng".
    std::string short_name() const;
    /// According to the events that have been read: all of the logs that add_logs() added.
    std::vector<flow::KnownQueuePair> queue_pairs() const;
};

/// `path`: a run directory, a directory with its files but without run.json, or a pcap or pcapng
/// file. `logs`: run logs (docs/run-log.md) in addition to those of the directory. The roles of a
/// log are named after the `role` of its events, or after its file if they have none. If several
/// logs have a role, that role is named after the file, or "role@file" in a log with other roles.
/// Throws util::Error if there is neither a capture nor a run, or if a log cannot be read or has no
/// event.
TraceFiles trace_files(const std::string& path, const std::vector<std::string>& logs = {});

/// A capture on standard input, read once, with run logs that may grow. Throws as trace_files().
TraceFiles stream_files(const std::vector<std::string>& logs = {});

/// Adds run logs. Throws as trace_files().
void add_logs(const std::vector<std::string>& paths, TraceFiles& files);

}  // namespace timeline

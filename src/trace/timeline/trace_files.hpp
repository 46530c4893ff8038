// The files that a timeline is made of: a capture and run logs. A run directory names them, and so
// does a command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "capture/interface_choice.hpp"
#include "trace/timeline/run_dir.hpp"

namespace timeline {

struct LogFile {
    std::string path;
    /// Whose events these are: by the role that an event has, its name here. Another log's role may
    /// have the same name in its events, and has another one here.
    std::map<std::string, std::string> names;
    /// Of the roles that are not in `names`.
    std::string role;

    const std::string& name_of(const std::string& role_of_event) const;
};

struct TraceFiles {
    std::string name;                       // the path that was given
    bool is_run_dir = false;                // with a run.json
    std::string capture;                    // of a run that goes on it may not be there yet
    std::vector<LogFile> logs;              // of a run that goes on: the same
    RunInfo info;                           // without a run.json: the logs' roles and addresses
    capture::InterfaceChoice interface {};  // of the capture's, whose packets are read
    std::string capture_role;               // whose clock the capture has; empty: unknown
    /// Sentences about logs that are less than they should be.
    std::vector<std::string> warnings;

    /// "20260101T000000Z_01_cm_write_read", "run.pcapng".
    std::string short_name() const;
};

/// `path`: a run directory, a directory with its files but without run.json, or a pcap or pcapng
/// file. `logs`: run logs (docs/run-log.md), beside those of the directory. The roles of a log are
/// named after the `role` of its events, or after its file where they have none. Where several logs
/// have a role, it is named after their files, and "role@file" of a log that has others, too. Throws util::Error where there is no capture and no run,
/// or where a log cannot be read or has no event.
TraceFiles trace_files(const std::string& path, const std::vector<std::string>& logs = {});

/// The logs alone. Throws as trace_files().
void add_logs(const std::vector<std::string>& paths, TraceFiles& files);

}  // namespace timeline

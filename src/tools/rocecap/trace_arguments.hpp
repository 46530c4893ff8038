// Arguments of the commands that read a capture and run logs: CAPTURE [--log FILE]... or RUN_DIR.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "trace/timeline/finished_run.hpp"
#include "trace/timeline/trace_files.hpp"

namespace rocecap {

struct TraceArguments {
    std::string path;
    std::vector<std::string> logs;
    std::string interface {};  // empty: all
    bool trust_port = false;
};

void add_trace_arguments(CLI::App& command, TraceArguments& arguments);
/// Adds only --interface.
void add_interface_option(CLI::App& command, std::string& interface);
/// Adds only --trust-port.
void add_trust_port_option(CLI::App& command, bool& all);
/// Prints a sentence about the capture, such as wire::RoceFlows::left_out_text(), unless it is empty.
void print_note(const std::string& text);
/// `packets`: capture::Source::dropped() at the end of the capture.
void print_dropped(std::uint64_t packets);
/// Adds the argument of commands that read a capture without run logs: a file, or a run directory.
void add_file_argument(CLI::App& command, std::string& file);
/// The capture in a run directory; other paths as they are. Throws util::Error for a directory
/// without a capture.
std::string capture_of(const std::string& path);

/// Adds --at, the host where the capture was made.
void add_place_option(CLI::App& command, std::string& address);

/// Adds -o. `name`: of the file in a run directory.
void add_output_option(CLI::App& command, std::string& output, const std::string& name);

/// Adds an option whose argument N is a whole number from 1 up, of at most 64 bits. (CLI11's own
/// validator accepts "-1" as a large one.)
CLI::Option* add_count_option(CLI::App& command, const char* names, std::uint64_t& count,
                              const char* help);

/// Adds only --log.
void add_log_option(CLI::App& command, std::vector<std::string>& logs);

void print_warnings(const timeline::TraceFiles& files);
/// Prints the warnings. Throws util::Error as timeline::trace_files() does.
timeline::TraceFiles files_of(const TraceArguments& arguments);

/// The path given to `option`, or NAME in the run directory. Throws util::Error if there is no run
/// directory to write to, or if the path is the capture itself.
std::string output_of(const timeline::TraceFiles& files, const std::string& option,
                      const char* name);

/// Call after the output: throws util::Error if the capture was not read to its end (`damage`).
void require_whole(const std::string& damage);

/// Prints a warning if the capture and the logs do not match: packets without RoCE, logs whose
/// queue pairs are not in the capture. Throws util::Error if there is nothing to show. Run
/// directories come from the lab and are not checked.
void check_trace(const timeline::FinishedRun& run);

/// `packets`: of the capture; `roce`: its RoCE packets. Throws util::Error as check_trace() does.
/// Also prints `left_out`, as print_note().
void check_capture(const timeline::TraceFiles& files, std::uint64_t packets, std::uint64_t roce,
                   const std::string& left_out);

}  // namespace rocecap

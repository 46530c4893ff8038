#include "tools/rocecap/trace_arguments.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "util/error.hpp"
#include "util/number.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

namespace fs = std::filesystem;

void warn(std::string_view sentence) {
    util::print_error(fmt::format("rocecap: {}\n", util::printable(sentence)));
}

}  // namespace

void add_log_option(CLI::App& command, std::vector<std::string>& logs) {
    command
        .add_option(
            "--log", logs,
            "The run log of a program whose packets are in the\ncapture; repeat it for each log")
        ->type_name("FILE")
        ->expected(1)
        ->take_all();
}

void add_trace_arguments(CLI::App& command, TraceArguments& arguments) {
    command
        .add_option(
            "capture", arguments.path,
            "A pcap or pcapng file, or a run's directory, which\nholds its capture and logs")
        ->required()
        ->type_name("CAPTURE|RUN_DIR");
    add_log_option(command, arguments.logs);
    add_interface_option(command, arguments.interface);
    add_trust_port_option(command, arguments.trust_port);
}

void add_trust_port_option(CLI::App& command, bool& all) {
    command.add_flag(
        "--trust-port", all,
        "Decode all packets to UDP port 4791 as RoCE, also\nthose of flows that do not "
        "look like it");
}

void print_note(const std::string& text) {
    if (!text.empty())
        warn(text);
}

void print_dropped(std::uint64_t packets) {
    if (packets != 0)
        warn(fmt::format("the capture lacks {} packet{}: it dropped them, says its file.", packets,
                         packets == 1 ? "" : "s"));
}

void add_interface_option(CLI::App& command, std::string& interface) {
    command
        .add_option(
            "--interface", interface,
            "Read only the packets of this interface of a pcapng\nfile, given by number or name")
        ->type_name("N|NAME");
}

void add_file_argument(CLI::App& command, std::string& file) {
    command
        .add_option("file", file,
                    "A pcap or pcapng file, or a run's directory;\n'-': standard input")
        ->required()
        ->type_name("FILE|RUN_DIR");
}

std::string capture_of(const std::string& path) {
    if (!std::filesystem::is_directory(path))
        return path;
    std::string capture = timeline::capture_in(path);
    if (capture.empty())
        throw util::Error(
            fmt::format("{} has no capture: neither wire.pcapng nor annotated.pcapng "
                        "is in this directory.",
                        path));
    return capture;
}

void add_place_option(CLI::App& command, std::string& address) {
    command
        .add_option("--at", address,
                    "The capture was made at the host with this address;\nin a run directory: at "
                    "the server; of the interface 'any':\nat the host that it shows")
        ->type_name("ADDRESS");
}

void add_output_option(CLI::App& command, std::string& output, const std::string& name) {
    command
        .add_option("-o,--output", output,
                    "The file to write; -: standard output\n(default: RUN_DIR/" + name + ")")
        ->type_name("FILE");
}

CLI::Option* add_count_option(CLI::App& command, const char* names, std::uint64_t& count,
                              const char* help) {
    const auto check = [](const std::string& text) -> std::string {
        if (util::number_of<std::uint64_t>(text).value_or(0) != 0)
            return {};
        return fmt::format("'{}' is not a whole number of 1 or more", text);
    };
    return command.add_option(names, count, help)->check(CLI::Validator(check, ""))->type_name("N");
}

void print_warnings(const timeline::TraceFiles& files) {
    for (const std::string& warning : files.warnings)
        warn(warning);
}

timeline::TraceFiles files_of(const TraceArguments& arguments) {
    if (arguments.path.ends_with(".jsonl"))
        throw util::Error(fmt::format(
            "'{}' is a run log: give the capture, and the log with --log.", arguments.path));
    timeline::TraceFiles files = timeline::trace_files(arguments.path, arguments.logs);
    print_warnings(files);
    files.interface = capture::InterfaceChoice(arguments.interface);
    files.trust_port = arguments.trust_port;
    return files;
}

std::string output_of(const timeline::TraceFiles& files, const std::string& option,
                      const char* name) {
    if (option.empty() && !fs::is_directory(files.name))
        throw util::Error(
            fmt::format("no output file: give -o FILE, or -o - for standard output. Only a run "
                        "directory has a default place for {}.",
                        name));
    std::error_code ignored;
    if (!option.empty() && fs::equivalent(option, files.capture, ignored))
        throw util::Error(fmt::format("'{}' is the capture itself: choose another -o.", option));
    return option.empty() ? files.name + "/" + name : option;
}

void check_capture(const timeline::TraceFiles& files, std::uint64_t packets, std::uint64_t roce,
                   const std::string& left_out) {
    print_note(left_out);
    if (files.is_run_dir || roce > 0)
        return;
    const std::string sentence =
        packets == 0 ? fmt::format("'{}' has no packet.", files.capture)
        : !left_out.empty()
            ? fmt::format("'{}' has no RoCE packet.", files.capture)
            : fmt::format(
                  "'{}' has no RoCE packet: none of its {} packets has UDP port 4791 or "
                  "EtherType 0x8915. An adapter that offloads RDMA does not show them on "
                  "its Ethernet interface.",
                  files.capture, packets);
    if (files.logs.empty())
        throw util::Error(sentence);
    warn(sentence);
}

void require_whole(const std::string& damage) {
    if (!damage.empty())
        throw util::Error(damage);
}

void check_trace(const timeline::FinishedRun& run) {
    const timeline::TraceFiles& files = run.files();
    check_capture(files, run.joins().packets, run.joins().roce, run.left_out());
    if (files.is_run_dir || run.joins().roce == 0)
        return;
    for (const std::string& role : run.absent_roles())
        warn(fmt::format(
            "the capture has no packet of {}'s queue pairs: is its log from another run?", role));
}

}  // namespace rocecap

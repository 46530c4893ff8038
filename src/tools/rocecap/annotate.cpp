// rocecap annotate: copies a capture, with the cause of each packet as its comment.
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>

#include "tools/rocecap/annotate_follow.hpp"
#include "tools/rocecap/annotator.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/timeline/finished_run.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

struct AnnotateOptions {
    TraceArguments trace;
    std::string output;
    bool follow = false;
    std::string runs;
};

// Empty if the run kept no secrets.
std::string tls_secrets(const timeline::TraceFiles& files) {
    if (!files.is_run_dir)
        return {};
    std::ifstream file(files.name + "/tls-keys.log", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

timeline::TraceFiles files_to_follow(const AnnotateOptions& options) {
    if (options.trace.path != "-" && !timeline::is_run_dir(options.trace.path))
        throw util::Error(
            fmt::format("{} is not a run directory: --follow needs the directory of a run, or - "
                        "for a capture on standard input.",
                        options.trace.path));
    if (options.trace.path != "-" && !options.runs.empty())
        throw util::Error("--runs is for a capture on standard input (-): a run has its logs.");
    if (!options.runs.empty() && !options.trace.logs.empty())
        throw util::Error("give either --runs or --log.");
    if (options.trace.path != "-")
        return files_of(options.trace);
    timeline::TraceFiles files = timeline::stream_files(options.trace.logs);
    files.interface = capture::InterfaceChoice(options.trace.interface);
    files.trust_port = options.trace.trust_port;
    return files;
}

int follow_and_annotate(const AnnotateOptions& options) {
    timeline::TraceFiles files = files_to_follow(options);
    const std::string path =
        options.output.empty() ? "-" : output_of(files, options.output, "annotated.pcapng");
    annotate_following(std::move(files), options.runs, path);
    return fine;
}

int annotate(const AnnotateOptions& options, const Context& /*context*/) {
    if (options.follow)
        return follow_and_annotate(options);
    if (!options.runs.empty())
        throw util::Error("--runs needs --follow.");
    timeline::FinishedRun run(files_of(options.trace));
    const timeline::TraceFiles& files = run.files();
    const std::string path = output_of(files, options.output, "annotated.pcapng");
    if (!run.has_capture())
        throw util::Error(
            fmt::format("{} has no wire.pcapng: record a run with 'lab/lab capture'.", files.name));
    check_trace(run);
    const std::string secrets = tls_secrets(files);
    const bool is_file = path != "-";
    capture::Sink sink = is_file ? capture::Sink::replace(path) : capture::Sink::standard_output();
    if (is_file && !secrets.empty())
        util::check_errno(fchmod(sink.fd(), S_IRUSR | S_IWUSR), "fchmod " + path);
    Annotator annotator(files, secrets, std::move(sink));
    run.each_frame([&](const capture::Frame& frame, const timeline::PacketRow& row) {
        annotator.packet(frame, row);
    });
    annotator.close();
    const timeline::JoinCount& joins = run.joins();
    util::print_error(
        fmt::format("{}: {}\n", util::printable(path),
                    annotated_text(files, joins.packets, joins.packets - joins.causeless())));
    require_whole(run.capture_damage());
    return fine;
}

constexpr const char* annotate_footer =
    R"(Wireshark shows the comments in the packet details and, in a column, as the field frame.comment.
If the run was made with --keylog, the file contains the TLS secrets: anyone who has the file can
decrypt the exchange.

With --follow, a packet waits for its event up to 5 s while a log may still grow. TLS secrets are
left out.

Examples:
  rocecap annotate captures/runs/2026...
  rocecap annotate run.pcapng --log server.jsonl --log client.jsonl -o annotated.pcapng
  rocecap live -i eth0 -w - | rocecap annotate --follow - --log app.jsonl | wireshark -k -i -)";

}  // namespace

void add_annotate(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<AnnotateOptions>(
        app, context, "annotate",
        "Write a capture for Wireshark with each packet's cause as a comment", annotate_footer,
        annotate);
    add_trace_arguments(*command, options->trace);
    add_output_option(*command, options->output, "annotated.pcapng");
    command->add_flag("--follow", options->follow,
                      "Annotate a run in progress, or, as CAPTURE -, packets\nas they arrive on "
                      "standard input; write to standard\noutput by default");
    command
        ->add_option("--runs", options->runs,
                     "With --follow -: take the logs of the newest run in\nthis folder, also of "
                     "runs that begin later")
        ->type_name("FOLDER");
}

}  // namespace rocecap

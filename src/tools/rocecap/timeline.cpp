// rocecap timeline: a run's events and packets in one listing, after the run or during it.
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "capture/sink.hpp"
#include "render/perfetto.hpp"
#include "render/timeline_text.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/follow.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/service/packet_text.hpp"
#include "trace/timeline/finished_run.hpp"
#include "trace/timeline/packet_row.hpp"
#include "util/error.hpp"

namespace rocecap {

std::string end_of_listing(bool has_capture, bool has_logs, const timeline::Matcher& run,
                           const std::string& damage, std::uint64_t skipped_lines) {
    std::string text;
    if (has_capture)
        text += "\n" + render::TimelineText::summary(run, has_logs);
    if (!damage.empty())
        text += "the capture ends inside a packet\n";
    if (skipped_lines != 0)
        text += fmt::format("{} lines of the run logs are not events\n", skipped_lines);
    return text;
}

namespace {

struct TimelineOptions {
    TraceArguments trace;
    bool follow = false;
    std::string perfetto;  // empty: a listing
};

// Lists the rows of a finished run.
class Listing : public timeline::RowVisitor {
  public:
    Listing(const timeline::RunInfo& info, const Context& context)
        : style_(context.colour),
          text_(style_, info.addresses, context.columns),
          sink_(capture::Sink::standard_output()) {}

    void event(const runlog::Event& event, std::int64_t t_ns,
               const timeline::WorkRequest* /*request*/) override {
        sink_.append(text_.line(t_ns, event));
    }

    void packet(const timeline::PacketRow& row, const wire::Packet& packet,
                const capture::Frame& frame, std::uint64_t /*number*/,
                const timeline::WorkRequest* /*request*/) override {
        sink_.append(text_.line(row, packet_text_.line(packet, frame.bytes, style_)));
    }

    capture::Sink& sink() { return sink_; }

  private:
    util::TextStyle style_;
    service::PacketText packet_text_;
    render::TimelineText text_;
    capture::Sink sink_;
};

void write_perfetto(const TimelineOptions& options) {
    timeline::FinishedRun run(files_of(options.trace));
    check_trace(run);
    capture::Sink sink = options.perfetto == "-" ? capture::Sink::standard_output()
                                                 : capture::Sink::replace(options.perfetto);
    service::PacketText packet_text;
    render::Perfetto trace(run, sink, [&](const wire::Packet& packet, util::Bytes frame) {
        return packet_text.line(packet, frame);
    });
    run.each_row(trace);
    trace.end();
    sink.close();
    require_whole(run.capture_damage());
}

int list_timeline(const TimelineOptions& options, const Context& context) {
    if (!options.perfetto.empty()) {
        write_perfetto(options);
        return fine;
    }
    if (options.follow && !timeline::is_run_dir(options.trace.path))
        throw util::Error(
            fmt::format("{} is not a run directory: --follow needs the directory of a run.",
                        options.trace.path));
    const bool goes_on = options.follow && !timeline::read_run_info(options.trace.path).ended;
    if (goes_on)
        follow(files_of(options.trace), context);
    else
        list_run(options.trace, context);
    return fine;
}

constexpr const char* timeline_footer =
    R"(The line of a packet names the verbs call that caused it: '← client wr 1'. The calls come from the
run logs (--log); without a log, the listing has only the packets. A run directory is written by
'lab/lab capture' or 'lab/lab run': run.json, server.jsonl, client.jsonl and wire.pcapng.

Examples:
  rocecap timeline run.pcapng
  rocecap timeline run.pcapng --log server.jsonl --log client.jsonl
  rocecap timeline captures/samples/06_verbs_tcp_exchange --perfetto trace.json)";

}  // namespace

void list_run(const TraceArguments& trace, const Context& context) {
    timeline::FinishedRun run(files_of(trace));
    check_trace(run);
    Listing listing(run.info(), context);
    run.each_row(listing);
    listing.sink().append(end_of_listing(run.has_capture(), !run.files().logs.empty(),
                                         run.matcher(), run.capture_damage(), run.skipped_lines()));
    listing.sink().close();
    require_whole(run.capture_damage());
}

void add_timeline(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<TimelineOptions>(
        app, context, "timeline", "List the programs' events and the packets in order of time",
        timeline_footer, list_timeline);
    add_trace_arguments(*command, options->trace);
    CLI::Option* follow = command->add_flag("--follow", options->follow,
                                            "List a run while it is in progress, until it ends");
    command
        ->add_option("--perfetto", options->perfetto,
                     "Write a trace for ui.perfetto.dev or chrome://tracing\ninstead of the "
                     "listing; '-': to standard output")
        ->type_name("FILE")
        ->excludes(follow);
}

}  // namespace rocecap

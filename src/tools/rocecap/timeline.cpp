// rocecap timeline: a run's events and packets in one listing, after the run or during it.
#include "trace/timeline/timeline.hpp"

#include <array>
#include <string>
#include <sys/inotify.h>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "capture/sink.hpp"
#include "render/perfetto.hpp"
#include "render/timeline_text.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/service/packet_text.hpp"
#include "trace/timeline/finished_run.hpp"
#include "trace/timeline/packet_row.hpp"
#include "trace/timeline/trace_input.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "util/stop_signal.hpp"

namespace rocecap {
namespace {

struct TimelineOptions {
    TraceArguments trace;
    bool follow = false;
    std::string perfetto;  // empty: a listing
};

// Logs and packets arrive over separate connections: a row waits this long for one that happened
// before it. On busy hosts a log can be seconds late: a packet waits for its event up to
// `longest_hold`.
constexpr std::chrono::milliseconds hold{300};
constexpr std::chrono::milliseconds longest_hold{5000};
constexpr std::chrono::milliseconds step{50};

// Detects that a file of a directory was created, replaced or written.
class Watch {
  public:
    explicit Watch(const std::string& directory)
        : fd_(CHECK_ERRNO(inotify_init1(IN_NONBLOCK | IN_CLOEXEC))) {
        util::check_errno(inotify_add_watch(fd_.get(), directory.c_str(),
                                            IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_ONLYDIR),
                          "inotify_add_watch(" + directory + ")");
    }

    void wait(util::StopSignal& stop, util::Deadline deadline) {
        if (util::wait_readable(fd_.get(), stop, deadline) != util::Ready::input)
            return;
        std::array<char, 4096> notices{};
        while (read(fd_.get(), notices.data(), notices.size()) > 0) {
        }
    }

  private:
    util::Fd fd_;
};

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

void list(const TimelineOptions& options, const Context& context) {
    timeline::FinishedRun run(files_of(options.trace));
    check_trace(run);
    Listing listing(run.info(), context);
    run.each_row(listing);
    listing.sink().append(end_of_listing(run.has_capture(), !run.files().logs.empty(),
                                         run.matcher(), run.capture_damage(), run.skipped_lines()));
    listing.sink().close();
    require_whole(run.capture_damage());
}

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

class Follow {
  public:
    Follow(timeline::TraceFiles files, const Context& context)
        : input_(std::move(files)),
          files_(input_.files()),
          style_(context.colour),
          timeline_(files_.info.offsets, files_.capture_role),
          text_(style_, files_.info.addresses, context.columns),
          sink_(capture::Sink::standard_output()) {}

    void run() {
        util::StopSignal stop;
        sink_.give_up_on(stop);
        Watch watch(files_.name);
        // Checks whether the run has ended before it reads the files for the last time.
        while (!timeline::read_run_info(files_.name).ended && !stop.requested()) {
            take_in();
            const auto now = util::Clock::now();
            print(now - hold, now - longest_hold);
            watch.wait(stop, timeline_.holds_rows() ? util::deadline_in(step) : util::Deadline());
        }
        take_in();
        print(timeline::Timeline::Arrival::max(), timeline::Timeline::Arrival::max());
        if (stop.requested()) {
            sink_.append(sums_so_far());
            sink_.close();
            print_note(input_.left_out());
            return;
        }
        timeline::TraceFiles files = timeline::trace_files(files_.name);
        files.trust_port = files_.trust_port;
        const timeline::FinishedRun run(std::move(files));
        sink_.append(sums(run));
        sink_.close();
        print_note(input_.left_out());
        require_whole(run.capture_damage());
    }

  private:
    void take_in() {
        while (true) {
            auto item = input_.next();
            if (std::holds_alternative<std::monostate>(item))
                return;
            const auto now = util::Clock::now();
            if (auto* event = std::get_if<runlog::Event>(&item))
                timeline_.add(std::move(*event), now);
            else
                timeline_.add(row(std::get<capture::Frame>(item)), now);
        }
    }

    timeline::PacketRow row(const capture::Frame& frame) {
        const wire::Packet packet = input_.decode(frame);
        return timeline::row_of(packet, frame.bytes, frame.time.count(),
                                packet_text_.line(packet, frame.bytes, style_));
    }

    void print(timeline::Timeline::Arrival arrived, timeline::Timeline::Arrival waited_for) {
        for (const timeline::Row& row : timeline_.take(arrived, waited_for)) {
            if (const auto* packet = std::get_if<timeline::PacketRow>(&row.what))
                listed_with_cause_ += packet->has_cause();
            sink_.append(text_.line(row));
        }
        sink_.flush();
    }

    std::string sums_so_far() const {
        return end_of_listing(input_.has_capture(), true, timeline_.matcher(),
                              input_.capture_damage(), input_.skipped_lines());
    }

    // The sums of the complete files: rows of the listing may have missed events that came later.
    std::string sums(const timeline::FinishedRun& run) const {
        std::string text = end_of_listing(run.has_capture(), true, run.matcher(),
                                          run.capture_damage(), run.skipped_lines());
        const timeline::JoinCount& joins = run.joins();
        if (const std::uint64_t all = joins.joined + joins.set_up; all > listed_with_cause_)
            text += fmt::format(
                "{} packets are listed without their cause, because its log came more than {} s "
                "after them: rocecap timeline {} lists them with it\n",
                all - listed_with_cause_, longest_hold / std::chrono::seconds(1), files_.name);
        return text;
    }

    timeline::TraceInput input_;
    const timeline::TraceFiles& files_;
    util::TextStyle style_;
    service::PacketText packet_text_;
    timeline::Timeline timeline_;
    render::TimelineText text_;
    std::uint64_t listed_with_cause_ = 0;
    capture::Sink sink_;
};

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
        Follow(files_of(options.trace), context).run();
    else
        list(options, context);
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

// rocecap report: packets and events as one HTML page.
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "capture/sink.hpp"
#include "render/page/page.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/line_makers.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/timeline/first_psn_search.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

struct ReportOptions {
    TraceArguments trace;
    std::string output;
    std::uint64_t packets = 100'000;
};

int report(const ReportOptions& options, const Context& /*context*/) {
    timeline::TraceFiles files = files_of(options.trace);
    const std::string path = output_of(files, options.output, "report.html");
    timeline::FirstPsnSearch first_psns;
    timeline::FinishedRun run(std::move(files), &first_psns);
    check_trace(run);
    const page::Page page =
        page::read(run, first_psns.take(), options.packets, encode_on_all_cpus());
    capture::Sink sink =
        path == "-" ? capture::Sink::standard_output() : capture::Sink::replace(path);
    page::write(page, sink);
    sink.close();
    std::string said =
        fmt::format("{}: {} packets, {} events", util::printable(path), page.packets, page.events);
    if (page.left_out > 0)
        said += fmt::format("; {} more are omitted (--packets includes more)", page.left_out);
    util::print_error(said + '\n');
    require_whole(run.capture_damage());
    return fine;
}

constexpr const char* report_footer =
    R"(The page is one file and needs no network: open it in a browser, or send it to somebody. It contains
the logs and the capture, including payloads. Press '?' in the page to list its keys.)";

}  // namespace

void add_report(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<ReportOptions>(
        app, context, "report",
        "Write one HTML page: ladder diagram, bytes, states, plots, first PSNs", report_footer,
        report);
    add_trace_arguments(*command, options->trace);
    add_output_option(*command, options->output, "report.html");
    add_count_option(*command, "--packets", options->packets,
                     "Write at most N packets to the page (default: 100000);\nthe page reports how "
                     "many it omits");
}

}  // namespace rocecap

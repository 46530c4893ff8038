// rocecap report: packets and events as one HTML page.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "capture/sink.hpp"
#include "render/page/page.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "tools/rocecap/validators.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

struct ReportOptions {
    TraceArguments trace;
    std::string output;
    std::uint64_t packets = 100'000;
};

int report(const ReportOptions& options) {
    const timeline::TraceFiles files = files_of(options.trace);
    const std::string path = output_of(files, options.output, "report.html");
    timeline::FinishedRun run(files);
    check_trace(run);
    const page::Page page = page::read(run, options.packets);
    capture::Sink sink =
        path == "-" ? capture::Sink::standard_output() : capture::Sink::replace(path);
    page::write(page, sink);
    sink.close();
    std::string said =
        fmt::format("{}: {} packets, {} events", util::printable(path), page.packets, page.events);
    if (page.left_out > 0)
        said += fmt::format("; {} more are omitted (--packets includes more)", page.left_out);
    util::print_error(said + '\n');
    return all_decoded;
}

constexpr const char* report_footer =
    R"(The page is one file and needs no network: open it in a browser, or send it to somebody. It contains
the logs and the capture, including payloads. Press '?' in the page to list its keys.)";

}  // namespace

void add_report(CLI::App& app, Context& context) {
    auto options = std::make_shared<ReportOptions>();
    CLI::App* command = app.add_subcommand(
        "report", "Write one HTML page: ladder diagram, bytes, states, plots, first PSNs");
    add_trace_arguments(*command, options->trace);
    command
        ->add_option("-o,--output", options->output,
                     "The file to write; -: standard output\n(default: RUN_DIR/report.html)")
        ->type_name("FILE");
    command
        ->add_option("--packets", options->packets,
                     "Write at most N packets to the page (default: 100000);\nthe page reports how "
                     "many it omits")
        ->check(is_count())
        ->type_name("N");
    command->footer(report_footer);
    command->callback(
        [&context, options] { context.run = [options] { return report(*options); }; });
}

}  // namespace rocecap

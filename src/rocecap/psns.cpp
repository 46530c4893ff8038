// rocecap psns: which PSNs the connections of runs began with, and where the wire shows them.
#include <memory>
#include <string>
#include <vector>

#include "capture/sink.hpp"
#include "report/first_psns.hpp"
#include "rocecap/command.hpp"
#include "timeline/first_psn.hpp"

namespace rocecap {
namespace {

struct PsnsOptions {
    std::vector<std::string> directories;
    bool json = false;
};

int show(const PsnsOptions& options, bool colour) {
    std::vector<timeline::FirstPsns> runs;
    for (const std::string& directory : options.directories)
        runs.push_back(timeline::first_psns(directory));
    capture::Sink sink = capture::Sink::standard_output();
    if (!options.json)
        sink.append(report::first_psns_text(runs, report::Style(colour)));
    else
        for (const timeline::FirstPsns& run : runs)
            for (const timeline::FirstPsn& direction : run.directions)
                sink.append(report::first_psn_json(run, direction).dump() + '\n');
    sink.close();
    return all_decoded;
}

constexpr const char* psns_footer =
    R"(Of each direction: the PSN of its first packet, from the run log, or from the wire where the log
keeps it secret; who chose it; and the packets of the run's capture that a reader on the way finds it
in: messages that announce it in the clear (ConnectRequest, ConnectReply, the endpoint in a TCP
segment) and BTHs, which every packet has.)";

}  // namespace

void add_psns(CLI::App& app, Context& context) {
    auto options = std::make_shared<PsnsOptions>();
    CLI::App* command =
        app.add_subcommand("psns", "Runs: each direction's first PSN, and where on the wire it is");
    command->add_option("directories", options->directories, "Runs' directories")
        ->required()
        ->type_name("RUN_DIR");
    command->add_flag("--json", options->json, "One JSON object a direction instead of text");
    command->footer(psns_footer);
    command->callback([&context, options] {
        context.run = [&context, options] { return show(*options, context.colour); };
    });
}

}  // namespace rocecap

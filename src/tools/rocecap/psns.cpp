// rocecap psns: the first PSNs of connections, and the packets that reveal them.
#include <string>
#include <vector>

#include "capture/sink.hpp"
#include "render/first_psns.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/timeline/first_psn_search.hpp"
#include "util/error.hpp"

namespace rocecap {
namespace {

struct PsnsOptions {
    std::vector<std::string> paths;
    std::vector<std::string> logs;
    std::string interface;
    bool trust_port = false;
    bool json = false;
};

timeline::FirstPsns first_psns_of(const TraceArguments& arguments) {
    timeline::TraceInput input(files_of(arguments));
    timeline::FirstPsns found = timeline::first_psns(input);
    check_capture(input.files(), found.packets, found.roce_packets, found.left_out);
    return found;
}

int list_psns(const PsnsOptions& options, const Context& context) {
    if (options.paths.size() > 1 && !options.logs.empty())
        throw util::Error(
            "--log needs a single capture: run this command for each capture separately.");
    std::vector<timeline::FirstPsns> runs;
    for (const std::string& path : options.paths)
        runs.push_back(first_psns_of({path, options.logs, options.interface, options.trust_port}));
    capture::Sink sink = capture::Sink::standard_output();
    if (!options.json)
        sink.append(render::first_psns_text(runs, util::TextStyle(context.colour)));
    else
        for (const timeline::FirstPsns& run : runs)
            for (const timeline::FirstPsn& direction : run.directions)
                sink.append(render::first_psn_json(run, direction).dump() + '\n');
    sink.close();
    for (const timeline::FirstPsns& run : runs)
        require_whole(run.capture_damage);
    return fine;
}

constexpr const char* psns_footer =
    R"(For each direction, the table has:
  - the PSN of its first packet: from the run log, from the connection manager's messages, or from
    the packets where no log has it or the log hides it;
  - what chose this PSN;
  - the packets from which an observer on the path can read it: messages that carry it in the clear
    (ConnectRequest, ConnectReply, the endpoint in a TCP segment), and the BTH of each packet.)";

}  // namespace

void add_psns(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<PsnsOptions>(
        app, context, "psns", "List each direction's first PSN and the packets that reveal it",
        psns_footer, list_psns);
    command
        ->add_option("captures", options->paths,
                     "Captures (pcap or pcapng), or directories of runs")
        ->required()
        ->type_name("CAPTURE|RUN_DIR");
    add_log_option(*command, options->logs);
    add_interface_option(*command, options->interface);
    add_trust_port_option(*command, options->trust_port);
    command->add_flag("--json", options->json,
                      "Print one JSON object per direction instead of text");
}

}  // namespace rocecap

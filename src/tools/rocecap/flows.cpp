// rocecap flows: the conversations of a capture, queue pair by queue pair.
#include <cstdint>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "capture/file_source.hpp"
#include "capture/sink.hpp"
#include "capture/time_order.hpp"
#include "filter/where.hpp"
#include "render/flow_json.hpp"
#include "render/flow_text.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/interface_copies.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/flow/tracker.hpp"
#include "trace/service/services.hpp"
#include "trace/timeline/trace_files.hpp"
#include "util/error.hpp"
#include "util/grace.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

struct FlowsOptions {
    std::string file;
    std::optional<std::string> where;
    std::string interface;
    std::vector<std::string> run_logs;
    std::uint64_t count = UINT64_MAX;
    flow::Limits limits;
    bool json = false;
    bool icrc = false;
    bool trust_port = false;
};

flow::Tracker tracker(const flow::Limits& limits) {
    try {
        return flow::Tracker(limits);
    } catch (const std::bad_alloc&) {
        throw util::Error(fmt::format(
            "there is not enough memory for {} directions: choose a smaller --max-flows.",
            limits.streams));
    }
}

class Flows {
  public:
    Flows(const FlowsOptions& options, bool colour)
        : options_(options),
          style_(colour),
          source_(capture_of(options.file), capture::InterfaceChoice(options.interface)),
          udp_flows_(options.trust_port),
          tracker_(tracker(options.limits)) {
        if (options.where)
            where_ = filter::Where::parse(*options.where);
        timeline::TraceFiles files;
        if (std::filesystem::is_directory(options.file))
            files = timeline::trace_files(options.file, options.run_logs);
        else
            timeline::add_logs(options.run_logs, files);
        print_warnings(files);
        for (const flow::KnownQueuePair& pair : files.queue_pairs())
            tracker_.know(pair);
    }

    /// Reports also what was read before an error.
    int run() {
        std::exception_ptr failure;
        try {
            read();
        } catch (...) {
            failure = std::current_exception();
        }
        report();
        if (failure)
            std::rethrow_exception(failure);
        return tracker_.totals().malformed == 0 ? fine : found;
    }

  private:
    void read() {
        const util::Grace grace;
        const bool needs_icrc = options_.icrc || (where_ && where_->needs_icrc());
        const auto icrc = needs_icrc ? wire::IcrcCheck::Compute : wire::IcrcCheck::Skip;
        try {
            while (tracker_.totals().packets < options_.count && !grace.expired()) {
                const auto frame = source_.next();
                if (!frame)
                    return;
                add(*frame, icrc);
            }
        } catch (const util::Error&) {
            if (!grace.expired())
                throw;
        }
    }

    void add(const capture::Frame& frame, wire::IcrcCheck icrc) {
        order_.see(frame.time);
        const wire::Packet packet = capture::decode(frame, udp_flows_, icrc);
        if (where_ &&
            !where_->matches({frame.number, frame.time, packet, frame.bytes, frame.original_length,
                              scratch_, frame.notes, &services_.see(packet)}))
            return;
        if (!begin_)
            begin_ = frame.time;
        if (!copies_.take(frame, packet))
            return;
        tracker_.add(frame.time, packet, frame.original_length);
    }

    void report() {
        tracker_.finish();
        tracker_.for_each([this](const flow::Conversation& conversation) {
            sink_.append(options_.json ? render::flow_json(conversation).dump() + '\n'
                                       : render::flow_text(conversation, *begin_, style_));
        });
        sink_.append(options_.json ? render::flow_totals_json(tracker_.totals()).dump() + '\n'
                                   : render::flow_totals_text(tracker_.totals(), style_));
        sink_.close();
        print_note(udp_flows_.left_out_text());
        print_note(order_.text());
        print_note(copies_.text());
        print_dropped(source_.dropped());
        copies_.warn("--interface chooses one of the two");
    }

    const FlowsOptions& options_;
    util::TextStyle style_;
    capture::FileSource source_;
    capture::TimeOrder order_;
    wire::RoceFlows udp_flows_;
    flow::Tracker tracker_;
    InterfaceCopies copies_;
    std::optional<filter::Where> where_;
    service::Services services_;
    capture::Sink sink_ = capture::Sink::standard_output();
    std::optional<capture::Time> begin_;
    std::string scratch_;
};

constexpr const char* flows_footer =
    R"(Examples:
  rocecap flows run.pcapng
  rocecap flows run.pcapng --where 'ip.addr == 192.0.2.1' --json | jq .directions[].requests
  sudo rocecap live -i eth0 -w - | rocecap flows -      Ctrl-C ends both and prints the table

A packet names its destination queue pair, but not its source queue pair. rocecap finds the two
directions of a conversation by the connection manager's messages, by --log, or by the header of a
datagram. Otherwise it guesses, and the table reports the guess: the PSNs of responses fit the
requests, or no other directions are left between the two hosts.
Latencies are printed as p50 / p99 / max and the number of samples. Each sample is the time from a
request's last packet to the response that acknowledges it, measured where the capture was made.
Memory does not grow with the capture: above --max-flows directions, rocecap drops the directions
that were idle the longest, and the last line reports how many.)";

}  // namespace

void add_flows(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<FlowsOptions>(
        app, context, "flows", "Summarize each conversation: PSNs, losses, NAKs, latencies",
        flows_footer, [](const FlowsOptions& chosen, const Context& with) {
            return Flows(chosen, with.colour).run();
        });
    add_file_argument(*command, options->file);
    command->add_flag("--json", options->json,
                      "Print one JSON object per conversation instead of text");
    command
        ->add_option("--where", options->where,
                     "Read only packets that match: see 'rocecap fields'")
        ->type_name("FILTER");
    add_interface_option(*command, options->interface);
    add_trust_port_option(*command, options->trust_port);
    command
        ->add_option("--log,--run-log", options->run_logs,
                     "A run log, which names queue pairs and their peers;\nrepeat it for each log")
        ->type_name("FILE")
        ->expected(1)
        ->take_all();
    command->add_flag("--icrc", options->icrc, "Also count bad ICRCs; this reads every byte");
    add_count_option(*command, "-c,--count", options->count, "Stop after this many packets");
    command
        ->add_option("--max-flows", options->limits.streams,
                     "Keep at most this many directions,\n16 to 16777216")
        ->check(CLI::Range(flow::Limits::least_streams, flow::Limits::most_streams).description(""))
        ->capture_default_str()
        ->type_name("N");
}

}  // namespace rocecap

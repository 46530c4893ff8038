// rocecap explain: why did this connection fail, or why was it slow?
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "capture/sink.hpp"
#include "capture/time_order.hpp"
#include "render/explain_text.hpp"
#include "runlog/tail.hpp"
#include "tools/rocecap/both_ends.hpp"
#include "tools/rocecap/check_facts.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/interface_copies.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/explain/explainer.hpp"
#include "trace/timeline/trace_input.hpp"
#include "util/error.hpp"
#include "util/number.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

struct ExplainOptions {
    TraceArguments trace;
    std::string at;
    std::vector<std::string> ends;
    bool json = false;
    bool why = false;
};

// Takes the link emulator's logs out of those of the programs, and returns their paths.
std::vector<std::string> take_link_logs(timeline::TraceFiles& files) {
    std::vector<std::string> paths;
    std::erase_if(files.logs, [&](const timeline::LogFile& log) {
        const bool is_link = log.role() == timeline::link_role;
        if (is_link)
            paths.push_back(log.path());
        return is_link;
    });
    return paths;
}

// "25 seconds", "3 hours": at least two of the unit.
std::string time_between(std::int64_t ns) {
    struct Unit {
        const char* name;
        std::int64_t ns;
    };
    constexpr std::int64_t second = 1'000'000'000;
    for (const Unit& unit : {Unit{"days", 86'400 * second}, Unit{"hours", 3'600 * second},
                             Unit{"minutes", 60 * second}})
        if (ns >= 2 * unit.ns)
            return fmt::format("{} {}", ns / unit.ns, unit.name);
    return fmt::format("{} seconds", ns / second);
}

class Explain {
  public:
    explicit Explain(const ExplainOptions& options) : Explain(options, files_of(options.trace)) {}

    explain::Explanation made() {
        learn();
        read();
        print_note(order_.text());
        print_note(copies_.text());
        print_dropped(input_.dropped());
        if (input_.dropped() != 0)
            explainer_.packets_may_be_missing();
        copies_.warn("choose one with --interface, or name the host of each with --end");
        check_capture(files_, packets_, roce_, input_.left_out());
        explain::Explanation explanation = explainer_.explanation();
        if (!files_.is_run_dir && !explanation.other_runs.empty())
            reject(explanation.other_runs.front());
        return explanation;
    }

    render::ExplainContext context() const { return context_; }
    std::string damage() const { return input_.capture_damage(); }

  private:
    Explain(const ExplainOptions& options, timeline::TraceFiles files)
        : options_(options),
          link_logs_(take_link_logs(files)),
          input_(std::move(files)),
          files_(input_.files()) {}

    void learn() {
        for (const auto& [role, address] : files_.info.addresses)
            if (const auto host = host_of_address(address))
                explainer_.place(role, *host);
        for (const timeline::RunHost& host : files_.info.hosts)
            if (const auto status = util::number_of<std::uint64_t>(host.exit_code))
                explainer_.ended(host.role, *status);
        while (const auto event = input_.next_event())
            explainer_.learn(*event);
        for (const std::string& path : link_logs_) {
            runlog::Tail tail(path);
            while (const auto event = tail.next())
                explainer_.learn_link(*event);
        }
        for (const flow::KnownQueuePair& pair : input_.known_pairs())
            explainer_.know(pair);
        context_.logs = static_cast<std::size_t>(std::ranges::count_if(
            files_.logs,
            [](const timeline::LogFile& log) { return std::filesystem::exists(log.path()); }));
        if (files_.info.dropped == "0")
            explainer_.has_all_packets();
        place();
    }

    // Sets the capture point. A run is captured at the server.
    void place() {
        std::string address = options_.at;
        if (address.empty() && files_.is_run_dir)
            if (const auto known = files_.info.addresses.find(files_.capture_role);
                known != files_.info.addresses.end())
                address = known->second;
        if (address.empty())
            return;
        const auto host = host_of_address(address);
        if (!host)
            throw util::Error(
                fmt::format("--at: '{}' is not an IPv4 or IPv6 address.", options_.at));
        explainer_.captured_at(*host);
        is_placed_ = true;
    }

    [[noreturn]] void reject(const explain::OtherRun& other) const {
        const auto log = std::ranges::find_if(
            files_.logs, [&](const timeline::LogFile& one) { return one.has(other.role); });
        throw util::Error(fmt::format(
            "'{}' is of another run than the capture: it {} {} it, and the capture has no packet "
            "of its queue pairs. Give the logs of the same run, or none.",
            log == files_.logs.end() ? other.role : log->path(),
            other.ahead_ns < 0 ? "begins" : "ends",
            time_between(std::abs(other.ahead_ns)) + (other.ahead_ns < 0 ? " after" : " before")));
    }

    void read() {
        while (const auto frame = input_.next_frame()) {
            order_.see(frame->time);
            const wire::Packet packet = input_.decode(*frame);
            if (packets_++ == 0) {
                context_.begin_ns = frame->time.count();
                ends_ = BothEnds::of(files_.capture, *frame, options_.ends, options_.at,
                                     options_.trace.interface);
            }
            roce_ += packet.is_roce() ? 1 : 0;
            if (ends_) {
                if (const auto at = ends_->see(*frame, packet))
                    explainer_.add(frame->number, frame->time.count(), packet, frame->bytes, *at);
                continue;
            }
            if (!copies_.take(*frame, packet))
                continue;
            explainer_.add(frame->number, frame->time.count(), packet, frame->original_length,
                           frame->bytes);
        }
        if (ends_)
            ends_->check_capture();
        if (!is_placed_ && copies_.host())
            explainer_.captured_at(*copies_.host());
        context_.has_capture = input_.has_capture();
        context_.shows_why = options_.why;
    }

    const ExplainOptions& options_;
    const std::vector<std::string> link_logs_;
    timeline::TraceInput input_;
    const timeline::TraceFiles& files_;
    explain::Explainer explainer_;
    render::ExplainContext context_;
    std::uint64_t packets_ = 0;
    std::uint64_t roce_ = 0;
    capture::TimeOrder order_;
    InterfaceCopies copies_;
    std::optional<BothEnds> ends_;
    bool is_placed_ = false;
};

int explain_run(const ExplainOptions& options, const Context& context) {
    Explain run(options);
    const explain::Explanation explanation = run.made();
    auto sink = capture::Sink::standard_output();
    sink.append(options.json ? render::explain_json(explanation, run.context()) + '\n'
                             : render::explain_text(explanation, run.context(),
                                                    util::TextStyle(context.colour)));
    sink.close();
    require_whole(run.damage());
    return explanation.has_failed ? found : fine;
}

constexpr const char* explain_footer =
    R"(For each cause, rocecap prints a stable name, how certain the cause is, the frames and log lines
that show it, and what to try next. 'certain': the data exclude all other known causes; 'likely': no
other known cause fits as well; 'possible': another known cause fits, too. If no known cause fits,
rocecap reports that the cause is unknown.

A capture merged from both hosts' interfaces (mergecap -I none), with --end for each host, shows
which packets the path between them lost, changed, delayed or duplicated: then that is certain.

Run logs of both programs (written by rocetrace) give the most precise results. Without the
responder's log, for example, the cause of a remote access error cannot be determined.

Examples:
  rocecap explain captures/runs/2026...
  rocecap explain run.pcapng --log server.jsonl --log client.jsonl
  rocecap explain captures/runs/2026... --why
  rocecap explain both.pcapng --end 0=192.0.2.1 --end 1=192.0.2.2
  rocecap explain run.pcapng --at 192.0.2.1 --json | jq -r '.causes[].code'

Exit status: 0 nothing failed, 1 something failed, 2 it cannot run, or the capture is damaged or
ends too early.)";

}  // namespace

void add_explain(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<ExplainOptions>(
        app, context, "explain", "Explain why a connection failed or was slow, with the evidence",
        explain_footer, explain_run);
    add_trace_arguments(*command, options->trace);
    add_place_option(*command, options->at);
    add_ends_option(*command, options->ends);
    command->add_flag("--why", options->why,
                      "Also print what each cause could have been, and the data against it");
    command->add_flag("--json", options->json, "Print one JSON object instead of text");
}

}  // namespace rocecap

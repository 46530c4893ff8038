// rocecap check: do both ends of each reliable connection follow the specification?
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "capture/file_source.hpp"
#include "capture/sink.hpp"
#include "capture/time_order.hpp"
#include "render/check_json.hpp"
#include "render/check_text.hpp"
#include "tools/rocecap/both_ends.hpp"
#include "tools/rocecap/check_facts.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/interface_copies.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/conformance/checker.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

struct CheckOptions {
    TraceArguments trace;
    std::string at;
    std::vector<std::string> ends;
    bool all = false;
    bool json = false;
    bool lossy = false;
};

// For a run: the link's own capture, which has both sides, or else the server's.
std::string judged_capture(const std::string& path) {
    return std::filesystem::exists(path + "/link.pcapng") ? path + "/link.pcapng"
                                                          : capture_of(path);
}

// A mirror may also rewrite fields that it covers.
using conformance::IcrcTrust;

class Check {
  public:
    explicit Check(const CheckOptions& options)
        : options_(options),
          file_(judged_capture(options.trace.path)),
          flows_(options.trace.trust_port) {}

    conformance::Report report() {
        learn();
        if (options_.lossy || facts_.packets_may_be_missing)
            checker_.packets_may_be_missing();
        else if (facts_.has_all_packets)
            checker_.has_all_packets();
        read();
        print_note(flows_.left_out_text());
        print_note(order_.text());
        print_note(copies_.text());
        print_dropped(source_->dropped());
        if (source_->dropped() != 0)
            checker_.packets_may_be_missing();
        conformance::Report report = checker_.finish();
        if (report.connections.empty())
            throw util::Error(
                fmt::format("'{}' has no packet of a reliable connection (RC).", file_));
        check_place(report);
        compare_counters(report);
        context_.most_rows = options_.all ? 0 : context_.most_rows;
        return report;
    }

    const render::CheckContext& context() const { return context_; }
    /// Why the capture was not read to its end; empty if it was.
    const std::string& damage() const { return damage_; }

  private:
    void learn() {
        if (std::filesystem::is_directory(options_.trace.path))
            facts_ = read_facts(options_.trace.path);
        add_logs(options_.trace.logs, facts_);
        for (const auto& pair : facts_.queue_pairs)
            tracker_.know(pair);
        for (const auto& [frame, event] : facts_.events)
            checker_.know(frame, event);
        context_.roles = facts_.roles;
        context_.rules = facts_.rules;
    }

    void read() {
        source_.emplace(file_, capture::InterfaceChoice(options_.trace.interface));
        const auto frame = source_->next();
        if (!frame)
            return;
        if (auto ends =
                BothEnds::of(file_, *frame, options_.ends, options_.at, options_.trace.interface))
            read_both_ends(*std::move(ends), *frame);
        else
            read_one_place(*frame);
    }

    // The packets before the damage are checked nevertheless.
    std::optional<capture::Frame> next() {
        try {
            return source_->next();
        } catch (const util::Error& error) {
            damage_ = error.what();
            return std::nullopt;
        }
    }

    void read_both_ends(BothEnds ends, const capture::Frame& first) {
        for (std::optional frame(first); frame; frame = next()) {
            const wire::Packet packet = capture::decode(*frame, flows_);
            if (const auto at = ends.see(*frame, packet))
                checker_.add(frame->number, at->side, frame->time.count(), packet, at->identity,
                             at->trust);
        }
        ends.check_capture();
    }

    void read_one_place(const capture::Frame& first) {
        place_ = options_.at.empty() ? facts_.host_of("server") : host_of_address(options_.at);
        if (options_.at.empty() && !std::filesystem::is_directory(options_.trace.path))
            place_.reset();  // the host that captured is known only for a run
        if (!options_.at.empty() && !place_)
            throw util::Error(
                fmt::format("--at: '{}' is not an IPv4 or IPv6 address.", options_.at));
        for (std::optional frame(first); frame; frame = next())
            add(*frame);
        if (!place_)
            place_ = copies_.host();
        checker_.captured_at({place_});
        copies_.warn("choose one with --interface, or name the host of each with --end");
    }

    void add(const capture::Frame& frame) {
        order_.see(frame.time);
        const wire::Packet packet = capture::decode(frame, flows_);
        const auto key = flow::StreamKey::of(packet);
        if (!copies_.take(frame, packet))
            return;
        const bool is_at_receiver = key && key->dst == (place_ ? place_ : copies_.host());
        const std::uint64_t stream = tracker_.add(frame.time, packet, frame.bytes.size());
        checker_.add_at_one_point(frame.number, frame.time.count(), packet, stream,
                                  is_at_receiver ? IcrcTrust::Full : IcrcTrust::None);
    }

    void check_place(const conformance::Report& report) const {
        const auto is_place = [&](const conformance::HostReport& one) {
            return one.host == place_;
        };
        if (!options_.at.empty() && std::ranges::none_of(report.hosts, is_place))
            throw util::Error(
                fmt::format("--at: no RoCE packet of '{}' is from or to {}.", file_, options_.at));
    }

    // Compares the counters that both the host and the models have.
    void compare_counters(const conformance::Report& report) {
        for (const auto& growth : facts_.counters) {
            const std::string& role = growth.first;
            const conformance::Counts& counted = growth.second;
            const auto host = std::ranges::find_if(report.hosts, [&](const auto& one) {
                const auto name = facts_.roles.find(flow::text(one.host, one.network));
                return name != facts_.roles.end() && name->second == role;
            });
            // A capture from one place does not contain all packets of another host.
            if (host == report.hosts.end() || (report.one_point && host->host != place_))
                continue;
            for (const char* name : {"sent_pkts", "rcvd_pkts", "duplicate_request",
                                     "out_of_seq_request", "rcvd_seq_err", "send_rnr_err",
                                     "rcvd_rnr_err", "completer_retry_err", "retry_exceeded_err"}) {
                const auto told = counted.find(name);
                const auto seen = host->counts.find(name);
                if (told != counted.end() && seen != host->counts.end())
                    context_.counters.push_back({role, name, told->second, seen->second});
            }
        }
    }

    const CheckOptions& options_;
    std::string file_;
    std::optional<capture::FileSource> source_;
    wire::RoceFlows flows_;
    capture::TimeOrder order_;
    RunFacts facts_;
    flow::Tracker tracker_;
    conformance::Checker checker_{tracker_};
    std::optional<flow::Host> place_;  // of a capture from one place
    render::CheckContext context_;
    InterfaceCopies copies_;
    std::string damage_;
};

int check(const CheckOptions& options, const Context& context) {
    Check check(options);
    const conformance::Report report = check.report();
    auto sink = capture::Sink::standard_output();
    const auto write = [&sink](std::string_view text) { sink.append(text); };
    if (options.json)
        render::check_json(report, check.context(), write);
    else
        write(render::check_text(report, check.context(), util::TextStyle(context.colour)));
    sink.close();
    require_whole(check.damage());
    if (report.judges_nothing())
        throw util::Error(
            "Nothing was judged: the capture cut off headers of all connections. Capture at least "
            "384 bytes of each packet.");
    return report.findings.empty() ? fine : found;
}

constexpr const char* check_footer =
    R"(The link emulator's capture, link.pcapng, allows the most checks. It has each frame twice: 'before'
the link as its host sent it, and 'after' the link as the other host received it. For each packet
that the link lost, duplicated, reordered or changed, the output lists the recovery that the
specification requires and the recovery that followed. Each deviation has a stable code and names
the section of the specification.

A capture made at one host (--at, or a run's wire.pcapng) shows all packets of that host: rocecap
judges that host. A capture merged from both hosts' interfaces (mergecap -I none) shows both sides:
--end client0=192.0.2.2 --end server0=192.0.2.1.
If a packet that is missing from the capture may explain a finding, rocecap counts the finding as
'cannot be judged', not as a deviation. Run logs (--log) provide timers and first PSNs.

Exit status: 0 no deviation, 1 deviations, 2 it cannot run, or the capture is damaged, ends too
early or lacks the headers of all connections.)";

}  // namespace

void add_check(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<CheckOptions>(
        app, context, "check",
        "Check both ends of each reliable connection against the specification", check_footer,
        check);
    add_trace_arguments(*command, options->trace);
    add_place_option(*command, options->at);
    add_ends_option(*command, options->ends);
    command->add_flag("--all", options->all,
                      "List all recoveries and deviations, not only the first 40");
    command->add_flag(
        "--lossy", options->lossy,
        "Packets may be missing from the capture: lost between a\nhost and the capture, or by the "
        "capture. A run's\nrun.json records whether netem was set");
    command->add_flag("--json", options->json, "Print one JSON object instead of text");
}

}  // namespace rocecap

// rocecap check: do both ends of each reliable connection do as the specification says?
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "capture/pcapng_tail.hpp"
#include "capture/sink.hpp"
#include "conformance/checker.hpp"
#include "report/check_json.hpp"
#include "report/check_text.hpp"
#include "rocecap/check_facts.hpp"
#include "rocecap/command.hpp"
#include "util/error.hpp"

namespace rocecap {
namespace {

struct CheckOptions {
    std::string path;
    bool all = false;
    bool json = false;
    bool lossy = false;
};

[[noreturn]] void refuse_one_place(const std::string& path) {
    throw util::Error(fmt::format(
        "'{}' was captured at one place, where nobody sees what the other host sent and did not "
        "get: a check needs cable.pcapng, whose interfaces are 'before' and 'after' the cable.",
        path));
}

std::string capture_of(const std::string& path) {
    if (!std::filesystem::is_directory(path))
        return path;
    std::string cable = path + "/cable.pcapng";
    if (std::filesystem::exists(cable))
        return cable;
    if (std::filesystem::exists(path + "/wire.pcapng"))
        refuse_one_place(path + "/wire.pcapng");
    throw util::Error(fmt::format("{} is no run directory: it has no cable.pcapng.", path));
}

bool is_pcapng(const std::string& path) {
    constexpr char first_byte = 0x0a;
    std::ifstream file(path, std::ios::binary);
    // What cannot be opened says so where it is read.
    return !file || file.peek() == first_byte || file.peek() == std::ifstream::traits_type::eof();
}

class Check {
  public:
    explicit Check(const CheckOptions& options)
        : options_(options), file_(capture_of(options.path)) {}

    conformance::Report report() {
        if (std::filesystem::is_directory(options_.path)) {
            facts_ = read_facts(options_.path);
            for (const auto& pair : facts_.queue_pairs)
                checker_.know(pair);
            for (const auto& [frame, event] : facts_.events)
                checker_.know(frame, event);
            if (facts_.packets_may_be_missing)
                checker_.packets_may_be_missing();
            context_.roles = facts_.roles;
            context_.rules = facts_.rules;
        }
        if (options_.lossy)
            checker_.packets_may_be_missing();
        read();
        conformance::Report report = checker_.finish();
        if (report.connections.empty())
            throw util::Error(
                fmt::format("'{}' has no packet of a reliable connection (RC).", file_));
        compare_counters(report);
        context_.most_rows = options_.all ? 0 : context_.most_rows;
        return report;
    }

    const report::CheckContext& context() const { return context_; }
    bool is_cut() const { return is_cut_; }
    const std::string& file() const { return file_; }

  private:
    void read() {
        if (!is_pcapng(file_))
            refuse_one_place(file_);
        capture::PcapngTail source(file_);
        std::uint64_t number = 0;
        bool has_sides[2] = {false, false};
        while (const auto frame = source.next()) {
            ++number;
            const bool is_before = frame->interface_name == "before";
            if (!is_before && frame->interface_name != "after")
                refuse_one_place(file_);
            has_sides[is_before ? 0 : 1] = true;
            checker_.add(number, is_before ? conformance::Side::Before : conformance::Side::After,
                         frame->time.count(), capture::decode(*frame), frame->bytes);
        }
        is_cut_ = source.inside_block();
        if (number != 0 && !has_sides[0])
            refuse_one_place(file_);
    }

    // Those that both the host and the models have.
    void compare_counters(const conformance::Report& report) {
        for (const auto& growth : facts_.counters) {
            const std::string& role = growth.first;
            const conformance::Counts& counted = growth.second;
            const auto host = std::ranges::find_if(report.hosts, [&](const auto& one) {
                const auto name = facts_.roles.find(flow::text(one.host, one.network));
                return name != facts_.roles.end() && name->second == role;
            });
            if (host == report.hosts.end())
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
    RunFacts facts_;
    conformance::Checker checker_;
    report::CheckContext context_;
    bool is_cut_ = false;
};

int check(const CheckOptions& options, const Context& context) {
    Check check(options);
    const conformance::Report report = check.report();
    auto sink = capture::Sink::standard_output();
    sink.append(options.json
                    ? report::check_json(report, check.context()).dump() + '\n'
                    : report::check_text(report, check.context(), report::Style(context.colour)));
    sink.close();
    if (check.is_cut())
        throw util::Error(fmt::format("'{}' breaks off inside a packet.", check.file()));
    return report.findings.empty() ? all_decoded : malformed_seen;
}

constexpr const char* check_footer =
    R"(The capture is the cable's own: cable.pcapng, with each frame twice, 'before' the cable as its host
sent it and 'after' it as the other host got it. So it is known what either host knew.
What the cable lost, doubled, reordered or changed is listed with what the specification lets follow
from it and what did; each deviation has a code that stays the same, and the section it is about.
Packets that a host's own interface loses (lab/lab netem loss) are not in the capture: what one of
them may explain is counted as 'cannot be judged', and is no deviation.

Exit status: 0 no deviation, 1 deviations, 2 cannot run.)";

}  // namespace

void add_check(CLI::App& app, Context& context) {
    auto options = std::make_shared<CheckOptions>();
    CLI::App* command =
        app.add_subcommand("check", "Do both ends of each reliable connection as specified?");
    command->add_option("path", options->path, "A run over rocewire, or its cable.pcapng")
        ->required()
        ->type_name("RUN_DIR|FILE");
    command->add_flag("--all", options->all, "List all recoveries and deviations, not only 40");
    command->add_flag(
        "--lossy", options->lossy,
        "Packets may have been lost between a host and the capture.\nA run's run.json "
        "tells it where netem was set");
    command->add_flag("--json", options->json, "One JSON object instead of text");
    command->footer(check_footer);
    command->callback([&context, options] {
        context.run = [&context, options] { return check(*options, context); };
    });
}

}  // namespace rocecap

#include "tools/rocecap/check_facts.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runlog/tail.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/logged/known_pairs.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"

namespace rocecap {

namespace key = runlog::key;

namespace {

conformance::LinkAction event_of(const runlog::Event& event) {
    using conformance::LinkAction;
    return event.is("drop")      ? LinkAction::Drop
           : event.is("corrupt") ? LinkAction::Corrupt
           : event.is("set")     ? LinkAction::Set
                                 : LinkAction::Other;
}

void add(const std::vector<flow::KnownQueuePair>& pairs, RunFacts& facts) {
    facts.queue_pairs.insert(facts.queue_pairs.end(), pairs.begin(), pairs.end());
}

void read_events(const std::string& path, RunFacts& facts) {
    runlog::Tail log(path);
    while (const auto event = log.next()) {
        const auto frame = (*event)[key::frame];
        if (!frame || (*event)[key::copy])
            continue;
        const conformance::LinkAction what = event_of(*event);
        if (what != conformance::LinkAction::Other)
            facts.events[*frame] = what;
        std::string& rule = facts.rules[*frame];
        if (const std::string_view text = (*event)[key::text]; !text.empty())
            rule += (rule.empty() ? "" : "; ") + std::string(text);
        if (rule.empty())
            rule = event->name;
    }
}

// How much a port's counters grew.
conformance::Counts growth_of(const timeline::RunHost& host, const std::string& role) {
    conformance::Counts counts;
    for (const auto& [counter, before, after] : host.counters) {
        if (!before || !after)
            throw util::Error(fmt::format(
                "run.json: the counter '{}' of '{}' is not a whole number of 0 or more.",
                util::printable(counter), role));
        if (*before <= *after)
            counts[counter] = *after - *before;
        else
            util::complain("rocecap",
                           fmt::format("run.json: the counter '{}' of '{}' was reset during the "
                                       "run, so it is not compared.",
                                       counter, role));
    }
    return counts;
}

// A delay alone keeps the order: "delay 2ms reorder 25% loss 5%".
bool hides_packets(const std::string& netem) {
    return netem.find("loss ") != std::string::npos || netem.find("reorder ") != std::string::npos;
}

}  // namespace

std::optional<flow::Host> host_of_address(const std::string& address) {
    wire::Ipv4Address ipv4;
    if (inet_pton(AF_INET, address.c_str(), ipv4.bytes.data()) == 1)
        return flow::Host::of(ipv4);
    return flow::host_of_gid(address);
}

std::optional<flow::Host> RunFacts::host_of(const std::string& role) const {
    for (const auto& [address, name] : roles)
        if (name == role)
            return host_of_address(address);
    return std::nullopt;
}

void add_logs(const std::vector<std::string>& logs, RunFacts& facts) {
    timeline::TraceFiles files;
    timeline::add_logs(logs, files);
    print_warnings(files);
    for (const auto& [role, address] : files.info.addresses)
        facts.roles.emplace(address, role);
    add(files.queue_pairs(), facts);
}

RunFacts read_facts(const std::string& run_dir) {
    RunFacts facts;
    read_events(run_dir + "/link.jsonl", facts);
    if (!timeline::is_run_dir(run_dir))
        return facts;
    const timeline::RunInfo info = timeline::read_run_info(run_dir);
    facts.has_all_packets = info.dropped == "0";
    facts.packets_may_be_missing = !info.dropped.empty() && !facts.has_all_packets;
    for (const timeline::RunHost& host : info.hosts) {
        const std::string name = util::printable(host.role);
        if (!host.address.empty())
            facts.roles[host.address] = name;
        facts.counters[name] = growth_of(host, name);
        facts.packets_may_be_missing |= hides_packets(host.netem);
        add(logged::queue_pairs_in(fmt::format("{}/{}.jsonl", run_dir, host.role)), facts);
    }
    return facts;
}

}  // namespace rocecap

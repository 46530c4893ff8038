#include "tools/rocecap/check_facts.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runlog/tail.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/logged/known_pairs.hpp"
#include "util/error.hpp"
#include "util/json.hpp"
#include "util/printable.hpp"

namespace rocecap {

namespace key = runlog::key;

namespace {

using util::Json;

conformance::Event event_of(const runlog::Event& event) {
    using conformance::Event;
    return event.is("drop")      ? Event::Drop
           : event.is("corrupt") ? Event::Corrupt
           : event.is("set")     ? Event::Set
                                 : Event::Other;
}

void read_queue_pairs(const std::string& path, RunFacts& facts) {
    const auto found = logged::queue_pairs_in(path);
    facts.queue_pairs.insert(facts.queue_pairs.end(), found.begin(), found.end());
}

void read_events(const std::string& path, RunFacts& facts) {
    runlog::Tail log(path);
    while (const auto event = log.next()) {
        const auto frame = (*event)[key::frame];
        if (!frame || (*event)[key::copy])
            continue;
        const conformance::Event what = event_of(*event);
        if (what != conformance::Event::Other)
            facts.events[*frame] = what;
        std::string& rule = facts.rules[*frame];
        if (const std::string_view text = (*event)[key::text]; !text.empty())
            rule += (rule.empty() ? "" : "; ") + std::string(text);
        if (rule.empty())
            rule = event->name;
    }
}

std::uint64_t count_of(const Json& counters, const std::string& counter, const std::string& role) {
    if (!counters[counter].is_number_unsigned())
        throw util::Error(
            fmt::format("run.json: the counter '{}' of '{}' is not a whole number of 0 or more.",
                        util::printable(counter), role));
    return counters[counter].get<std::uint64_t>();
}

// How much a port's counters grew.
conformance::Counts growth_of(const Json& host, const std::string& role) {
    conformance::Counts counts;
    const auto text = [&](const char* key) {
        return host.contains(key) && host[key].is_string() ? host[key].get<std::string>()
                                                           : std::string();
    };
    const auto port = host.contains("port") && host["port"].is_number_integer()
                          ? host["port"].get<std::int64_t>()
                          : 1;
    const std::string name = fmt::format("{}/{}", text("device"), port);
    const Json::json_pointer before = Json::json_pointer("/counters/before") / name;
    const Json::json_pointer after = Json::json_pointer("/counters/after") / name;
    if (!host.contains(before) || !host.contains(after) || !host.at(after).is_object())
        return counts;
    for (const auto& item : host.at(after).items()) {
        const std::string& counter = item.key();
        if (!host.at(before).contains(counter))
            continue;
        const std::uint64_t begin = count_of(host.at(before), counter, role);
        const std::uint64_t end = count_of(host.at(after), counter, role);
        if (begin <= end)
            counts[counter] = end - begin;
        else
            util::complain("rocecap",
                           fmt::format("run.json: the counter '{}' of '{}' was reset during the "
                                       "run, so it is not compared.",
                                       counter, role));
    }
    return counts;
}

// `netem`: as tc(8) prints it, "delay 2ms reorder 25% loss 5%". A delay alone keeps the order.
bool hides_packets(const Json& host) {
    if (!host.contains("netem") || !host["netem"].is_string())
        return false;
    const auto netem = host["netem"].get<std::string>();
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
    for (const std::string& log : logs)
        read_queue_pairs(log, facts);
}

RunFacts read_facts(const std::string& run_dir) {
    RunFacts facts;
    read_events(run_dir + "/link.jsonl", facts);
    const std::string run = run_dir + "/run.json";
    if (!std::filesystem::exists(run))
        return facts;
    std::ifstream file(run);
    const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object())
        throw util::Error(fmt::format("{} is not readable JSON.", run));
    if (!json.contains("hosts") || !json["hosts"].is_object())
        return facts;
    for (const auto& [role, host] : json["hosts"].items()) {
        // The role becomes a part of a file name.
        if (!host.is_object() || role.find('/') != std::string::npos)
            continue;
        const std::string name = util::printable(role);
        if (host.contains("address") && host["address"].is_string())
            facts.roles[host["address"].get<std::string>()] = name;
        facts.counters[name] = growth_of(host, name);
        facts.packets_may_be_missing |= hides_packets(host);
        read_queue_pairs(fmt::format("{}/{}.jsonl", run_dir, role), facts);
    }
    return facts;
}

}  // namespace rocecap

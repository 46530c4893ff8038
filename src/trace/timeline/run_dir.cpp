#include "trace/timeline/run_dir.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "util/error.hpp"
#include "util/json.hpp"

namespace timeline {
namespace {

using util::Json;

// 63 years: two clocks differ by less, even if one of them begins in 1970.
constexpr double largest_offset_s = 2e9;

const Json* find(const Json& json, const Json::json_pointer& pointer) {
    return json.contains(pointer) ? &json.at(pointer) : nullptr;
}

const Json* find(const Json& json, const std::string& path) {
    return find(json, Json::json_pointer(path));
}

std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string text_at(const Json& json, const std::string& path) {
    const Json* value = find(json, path);
    return value == nullptr ? std::string() : text_of(*value);
}

std::string string_at(const Json& json, const std::string& path) {
    const Json* value = find(json, path);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<std::uint64_t> count_of(const Json& value) {
    return value.is_number_unsigned() ? std::optional(value.get<std::uint64_t>()) : std::nullopt;
}

std::vector<RunHost::Counter> counters_of(const Json& host, const std::string& device) {
    std::vector<RunHost::Counter> counters;
    const Json* number = find(host, "/port");
    const std::string port = fmt::format(
        "{}/{}", device,
        number != nullptr && number->is_number_integer() ? number->get<std::int64_t>() : 1);
    const Json* before = find(host, Json::json_pointer("/counters/before") / port);
    const Json* after = find(host, Json::json_pointer("/counters/after") / port);
    if (before == nullptr || after == nullptr || !after->is_object())
        return counters;
    for (const auto& [name, value] : after->items())
        if (before->contains(name))
            counters.push_back({name, count_of(before->at(name)), count_of(value)});
    return counters;
}

std::optional<std::string> command_of(const Json& host) {
    const Json* command = find(host, "/command");
    if (command == nullptr)
        return std::nullopt;
    std::vector<std::string> words;
    for (const Json& word : *command)
        words.push_back(text_of(word));
    return fmt::format("{}", fmt::join(words, " "));
}

std::vector<RunHost> hosts_of(const Json& json) {
    std::vector<RunHost> hosts;
    const Json* all = find(json, "/hosts");
    if (all == nullptr || !all->is_object())
        return hosts;
    for (const auto& [role, json_host] : all->items()) {
        // The role becomes a part of a file name.
        if (!json_host.is_object() || role.find('/') != std::string::npos)
            continue;
        RunHost& host = hosts.emplace_back();
        host.role = role;
        host.address = string_at(json_host, "/address");
        host.interface = string_at(json_host, "/interface");
        host.device = string_at(json_host, "/device");
        host.netem = string_at(json_host, "/netem");
        host.path_mtu = text_at(json_host, "/path_mtu");
        host.kernel = text_at(json_host, "/kernel");
        host.rdma_core = text_at(json_host, "/rdma_core");
        host.exit_code = text_at(json_host, "/exit_code");
        host.command = command_of(json_host);
        host.counters = counters_of(json_host, host.device);
    }
    return hosts;
}

// The roles of two machines, and further clients: "client2". Log names are made only of these.
std::vector<std::string> roles_of(const RunInfo& info) {
    std::vector<std::string> roles{"server", "client"};
    for (std::size_t number = 2;; ++number) {
        std::string role = fmt::format("client{}", number);
        if (info.host(role) == nullptr)
            return roles;
        roles.push_back(std::move(role));
    }
}

std::vector<std::string> link_rules_of(const Json& json) {
    std::vector<std::string> rules;
    if (const Json* all = find(json, "/link/rules"); all != nullptr && all->is_array())
        for (const Json& rule : *all)
            if (rule.is_string())
                rules.push_back(rule.get<std::string>());
    return rules;
}

}  // namespace

const RunHost* RunInfo::host(const std::string& role) const {
    const auto found = std::ranges::find(hosts, role, &RunHost::role);
    return found == hosts.end() ? nullptr : &*found;
}

bool is_run_dir(const std::string& path) {
    return std::filesystem::exists(path + "/run.json");
}

std::string capture_in(const std::string& directory) {
    for (const char* name : {"/wire.pcapng", "/annotated.pcapng"})
        if (std::filesystem::exists(directory + name))
            return directory + name;
    return {};
}

RunInfo read_run_info(const std::string& run_dir) {
    std::ifstream file(run_dir + "/run.json");
    const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object())
        throw util::Error(fmt::format("{}/run.json is not readable JSON.", run_dir));
    RunInfo info;
    info.step = string_at(json, "/step");
    info.ended = json.contains("ended");
    info.started = text_at(json, "/started");
    info.backend = text_at(json, "/backend");
    info.dropped = text_at(json, "/capture/dropped");
    info.link_rules = link_rules_of(json);
    info.hosts = hosts_of(json);
    info.roles = roles_of(info);
    for (const std::string& role : info.roles) {
        if (const RunHost* host = info.host(role); host != nullptr && !host->address.empty())
            info.addresses[role] = host->address;
        const Json* offset = find(json, fmt::format("/clock/{}/offset_s", role));
        if (offset != nullptr && offset->is_number() &&
            std::abs(offset->get<double>()) <= largest_offset_s)
            info.offsets[role] = static_cast<std::int64_t>(offset->get<double>() * 1e9);
    }
    // The link emulator runs on the machine that the hosts' clocks were compared with.
    if (std::filesystem::exists(fmt::format("{}/{}.jsonl", run_dir, link_role)))
        info.offsets.emplace(link_role, 0);
    return info;
}

}  // namespace timeline

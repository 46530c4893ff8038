#include "trace/timeline/run_dir.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>

#include <fmt/format.h>

#include "util/error.hpp"
#include "util/json.hpp"

namespace timeline {
namespace {

using util::Json;

// 63 years: two clocks differ by less, even if one of them begins in 1970.
constexpr double largest_offset_s = 2e9;

// Returns the value at `path` if it has type T; run.json is complete only at the end of a run.
template <typename T>
std::optional<T> value_at(const Json& json, const std::string& path) {
    const Json::json_pointer pointer(path);
    if (!json.contains(pointer))
        return std::nullopt;
    const Json& value = json.at(pointer);
    if constexpr (std::is_same_v<T, std::string>)
        return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
    else
        return value.is_number() ? std::optional(value.get<T>()) : std::nullopt;
}

// The roles of two machines, and further clients: "client2". Log names are made only of these.
std::vector<std::string> roles_of(const Json& json) {
    std::vector<std::string> roles{"server", "client"};
    for (std::size_t number = 2; json.contains("hosts"); ++number) {
        const std::string role = fmt::format("client{}", number);
        if (!json["hosts"].is_object() || !json["hosts"].contains(role))
            break;
        roles.push_back(role);
    }
    return roles;
}

}  // namespace

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
    info.step = value_at<std::string>(json, "/step").value_or("");
    info.ended = json.contains("ended");
    info.roles = roles_of(json);
    for (const std::string& role : info.roles) {
        if (auto address = value_at<std::string>(json, fmt::format("/hosts/{}/address", role)))
            info.addresses[role] = *address;
        if (auto interface = value_at<std::string>(json, fmt::format("/hosts/{}/interface", role)))
            info.interfaces[role] = *interface;
        const auto offset = value_at<double>(json, fmt::format("/clock/{}/offset_s", role));
        if (offset && std::abs(*offset) <= largest_offset_s)
            info.offsets[role] = static_cast<std::int64_t>(*offset * 1e9);
    }
    // The link emulator runs on the machine that the hosts' clocks were compared with.
    if (std::filesystem::exists(fmt::format("{}/{}.jsonl", run_dir, link_role)))
        info.offsets.emplace(link_role, 0);
    return info;
}

}  // namespace timeline

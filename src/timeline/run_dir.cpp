#include "timeline/run_dir.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "util/error.hpp"

namespace timeline {
namespace {

using Json = nlohmann::json;

// The value at `path` where there is one of type T; run.json is complete only at the end of a run.
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

}  // namespace

RunDir::RunDir(std::string path)
    : path_(std::move(path)), server_(path_ + "/server.jsonl"), client_(path_ + "/client.jsonl") {
    if (!std::filesystem::exists(path_ + "/run.json"))
        throw util::Error(fmt::format(
            "{} is no run directory: it has no run.json. Runs are kept below captures/runs.",
            path_));
}

RunInfo RunDir::info() const {
    std::ifstream file(path_ + "/run.json");
    const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object())
        throw util::Error(fmt::format("{}/run.json is not readable JSON.", path_));
    RunInfo info;
    info.step = value_at<std::string>(json, "/step").value_or("");
    info.ended = json.contains("ended");
    for (const char* role : {"server", "client"}) {
        if (auto address = value_at<std::string>(json, fmt::format("/hosts/{}/address", role)))
            info.addresses[role] = *address;
        if (auto interface = value_at<std::string>(json, fmt::format("/hosts/{}/interface", role)))
            info.interfaces[role] = *interface;
        if (auto offset = value_at<double>(json, fmt::format("/clock/{}/offset_s", role)))
            info.offsets[role] = static_cast<std::int64_t>(*offset * 1e9);
    }
    return info;
}

RunDir::Item RunDir::next() {
    if (auto event = next_event())
        return *std::move(event);
    if (auto frame = next_frame())
        return *frame;
    return std::monostate{};
}

std::optional<runlog::Event> RunDir::next_event() {
    for (int tried = 0; tried < 2; ++tried) {
        if (auto event = (reads_client_ ? client_ : server_).next()) {
            // The log's file says which host it is from, also where both ran the same program.
            event->role = reads_client_ ? "client" : "server";
            return event;
        }
        reads_client_ = !reads_client_;
    }
    return std::nullopt;
}

std::optional<capture::Frame> RunDir::next_frame() {
    const std::string capture_path = path_ + "/wire.pcapng";
    if (!capture_ && std::filesystem::exists(capture_path))
        capture_ = std::make_unique<capture::PcapngTail>(capture_path);
    return capture_ ? capture_->next() : std::nullopt;
}

}  // namespace timeline

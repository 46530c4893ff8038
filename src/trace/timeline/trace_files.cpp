#include "trace/timeline/trace_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "capture/file_source.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"

namespace timeline {
namespace {

namespace fs = std::filesystem;

// Files are read several times, so they must be regular.
void require_file(const std::string& path, const char* what) {
    if (path != "-" && access(path.c_str(), R_OK) != 0)
        throw util::Error(fmt::format("cannot open '{}': {}.", path, std::strerror(errno)));
    if (path == "-" || !fs::is_regular_file(path))
        throw util::Error(fmt::format(
            "'{}' is not a regular file: {} is read several times, so it cannot be a pipe or a "
            "device.",
            path, what));
}

// Reads the log ahead, for the roles in it.
LogFile open_log(const std::string& path, const std::string& role,
                 std::vector<std::string>& warnings) {
    require_file(path, "a run log");
    LogFile log(path, role);
    log.read_ahead();
    if (!log.roles().empty())
        return log;
    if (fs::file_size(path) != 0)
        throw util::Error(
            fmt::format("'{}' is not a run log: no line is a JSON object with t_ns and event "
                        "(docs/run-log.md).",
                        path));
    warnings.push_back(fmt::format("'{}' is empty.", path));
    return log;
}

// The first address of each role in the log.
std::map<std::string, std::string> addresses_in(const LogFile& log) {
    std::map<std::string, std::string> addresses;
    for (const logged::Device& device : log.pairs().devices().all())
        addresses.emplace(device.role, device.address());
    return addresses;
}

std::string stem_of(const std::string& path) {
    return util::printable(fs::path(path).stem().string());
}

class Names {
  public:
    explicit Names(const std::vector<std::string>& taken) : taken_(taken.begin(), taken.end()) {
        for (const std::string& name : taken)
            ++logs_with_[name];
    }

    void see(const LogFile& log) {
        for (const std::string& role : log.roles())
            ++logs_with_[role];
    }

    std::string name(const std::string& role, const std::string& path, bool is_only_one) {
        const std::string stem = stem_of(path);
        std::string name = role.empty() ? stem : util::printable(role);
        if (logs_with_[role] > 1 && name != stem)
            name = is_only_one ? stem : name + '@' + stem;
        const std::string first = name;
        for (unsigned number = 2; !taken_.insert(name).second; ++number)
            name = fmt::format("{}-{}", first, number);
        return name;
    }

  private:
    std::map<std::string, unsigned> logs_with_;
    std::set<std::string> taken_;
};

void take_run(const std::string& path, TraceFiles& files) {
    files.is_run_dir = true;
    files.info = read_run_info(path);
    files.capture_role = "server";  // the lab captures there
    files.capture = capture_in(path);
    if (files.capture.empty())
        files.capture = path + "/wire.pcapng";  // a run that captures is about to create it
    const auto add = [&](const std::string& name, const std::string& role) {
        files.logs.emplace_back(fmt::format("{}/{}.jsonl", path, name), role);
    };
    for (const std::string& role : files.info.roles)
        add(role, role);
    for (const std::string& role : files.info.roles)
        if (const std::string name = role + "-driver";
            fs::exists(fmt::format("{}/{}.jsonl", path, name)))
            add(name, role);
    add(link_role, link_role);
}

// A directory without run.json.
void take_directory(const std::string& path, TraceFiles& files) {
    files.capture = capture_in(path);
    if (files.capture.empty())
        throw util::Error(
            fmt::format("{} is not a run directory: it has neither run.json nor a capture. Runs "
                        "are in captures/runs.",
                        path));
    for (const char* role : {"server", "client"}) {
        const std::string log = (fs::path(path) / fmt::format("{}.jsonl", role)).string();
        if (!fs::exists(log))
            continue;
        files.logs.push_back(open_log(log, role, files.warnings));
        files.info.roles.emplace_back(role);
        if (const auto found = addresses_in(files.logs.back()); !found.empty())
            files.info.addresses[role] = found.begin()->second;
    }
}

void take_capture(const std::string& path, TraceFiles& files) {
    require_file(path, "a capture");
    const capture::FileSource readable(path);
    files.capture = path;
}

}  // namespace

std::string TraceFiles::short_name() const {
    const fs::path path(name);
    return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::vector<flow::KnownQueuePair> TraceFiles::queue_pairs() const {
    std::vector<flow::KnownQueuePair> all;
    for (const LogFile& log : logs)
        std::ranges::copy(log.pairs().all(), std::back_inserter(all));
    return all;
}

void add_logs(const std::vector<std::string>& paths, TraceFiles& files) {
    std::vector<LogFile> added;
    Names names(files.info.roles);
    for (const std::string& path : paths)
        names.see(added.emplace_back(open_log(path, stem_of(path), files.warnings)));
    for (LogFile& log : added) {
        const auto addresses = addresses_in(log);
        for (const std::string& role : log.roles()) {
            // There is only one link emulator.
            const std::string name =
                role == link_role ? role : names.name(role, log.path(), log.roles().size() == 1);
            log.rename(role, name);
            if (role == link_role)
                continue;
            files.info.roles.push_back(name);
            if (const auto address = addresses.find(role); address != addresses.end())
                files.info.addresses[name] = address->second;
        }
        files.logs.push_back(std::move(log));
    }
}

TraceFiles stream_files(const std::vector<std::string>& logs) {
    TraceFiles files;
    files.name = "standard input";
    files.capture = "-";
    files.is_stream = true;
    add_logs(logs, files);
    return files;
}

TraceFiles trace_files(const std::string& path, const std::vector<std::string>& logs) {
    TraceFiles files;
    files.name = path;
    if (is_run_dir(path))
        take_run(path, files);
    else if (fs::is_directory(path))
        take_directory(path, files);
    else
        take_capture(path, files);
    add_logs(logs, files);
    return files;
}

}  // namespace timeline

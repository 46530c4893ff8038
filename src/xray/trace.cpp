#include "xray/trace.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/error.hpp"

namespace xray {
namespace {

constexpr std::string_view prefix = "rocexray_";
constexpr const char* usual_place = "/sys/kernel/tracing";

bool is_tracefs(const std::string& place) {
    return access((place + "/kprobe_events").c_str(), W_OK) == 0;
}

std::string find_tracefs() {
    for (const char* place : {usual_place, "/sys/kernel/debug/tracing"})
        if (is_tracefs(place))
            return place;
    if (geteuid() != 0)
        throw util::Error("the driver's steps are traced with tracefs, which needs root: use sudo");
    if (mount("nodev", usual_place, "tracefs", 0, nullptr) != 0 || !is_tracefs(usual_place))
        throw util::Error(
            fmt::format("tracefs is not available at {}, or this kernel has no kprobes: {}",
                        usual_place, std::strerror(errno)));
    return usual_place;
}

bool write_to(const std::string& path, std::string_view text, int flags = 0) {
    const util::Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC | flags));
    return file &&
           ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

void remove_probe(const std::string& root, const std::string& name) {
    write_to(root + "/kprobe_events", "-:" + name + '\n', O_APPEND);
}

// Whether the driver has this function: "ffffffffc03cae50 t rxe_post_send	[rdma_rxe]".
bool has_function(std::string_view name) {
    std::ifstream symbols("/proc/kallsyms");
    const std::string end = fmt::format(" {}\t[rdma_rxe]", name);
    for (std::string line; std::getline(symbols, line);)
        if (line.ends_with(end))
            return true;
    return false;
}

// Removes the instances and probes of processes that no longer exist.
void remove_stale(const std::string& root) {
    std::ifstream file(root + "/kprobe_events");
    std::set<std::string> groups, probes;
    for (std::string line; std::getline(file, line);) {
        const std::size_t begin = line.find(prefix), slash = line.find('/', begin);
        if (begin == std::string::npos || slash == std::string::npos)
            continue;
        const std::string group = line.substr(begin, slash - begin);
        int pid = 0;
        std::from_chars(group.data() + prefix.size(), group.data() + group.size(), pid);
        if (pid <= 0 || kill(pid, 0) == 0 || errno == EPERM)
            continue;
        groups.insert(group);
        probes.insert(line.substr(begin, line.find(' ', begin) - begin));
    }
    for (const std::string& group : groups) {
        write_to(fmt::format("{}/instances/{}/events/{}/enable", root, group, group), "0");
        rmdir(fmt::format("{}/instances/{}", root, group).c_str());
    }
    for (const std::string& probe : probes)
        remove_probe(root, probe);
}

}  // namespace

Trace::Trace()
    : root_(find_tracefs()),
      group_(fmt::format("{}{}", prefix, getpid())),
      instance_(fmt::format("{}/instances/{}", root_, group_)),
      buffer_(std::size_t{64} * 1024) {
    remove_stale(root_);
    if (mkdir(instance_.c_str(), S_IRWXU) != 0)
        throw util::Error(fmt::format("cannot create {}: {}", instance_, std::strerror(errno)));
    // Since the host's start: the steps of the clock that a daemon sets do not change it.
    write_to(instance_ + "/trace_clock", "mono");
    write_to(instance_ + "/buffer_size_kb", "8192");
}

Trace::~Trace() {
    pipe_.reset();
    stop();
    rmdir(instance_.c_str());
    for (const std::string& probe : added_)
        remove_probe(root_, probe);
}

void Trace::write(const std::string& file, std::string_view text, int flags) const {
    if (!write_to(file, text, flags))
        throw util::Error(fmt::format("cannot write {}: {}", file, std::strerror(errno)));
}

std::optional<std::string_view> Trace::add(const Probe& probe) {
    for (const std::string_view function : probe.functions) {
        if (write_to(root_ + "/kprobe_events", definition(probe, function, group_) + '\n',
                     O_APPEND)) {
            added_.push_back(fmt::format("{}/{}", group_, probe.step));
            return function;
        }
        const int error = errno;
        // Kernels report a function that they do not have in different ways.
        if (has_function(function))
            throw util::Error(fmt::format("the kernel refuses the probe '{}': {}",
                                          definition(probe, function, group_),
                                          std::strerror(error)));
    }
    return std::nullopt;
}

void Trace::start() {
    pipe_ = util::Fd(open((instance_ + "/trace_pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!pipe_)
        throw util::Error(
            fmt::format("cannot open {}/trace_pipe: {}", instance_, std::strerror(errno)));
    write(fmt::format("{}/events/{}/enable", instance_, group_), "1");
}

void Trace::stop() {
    write_to(fmt::format("{}/events/{}/enable", instance_, group_), "0");
}

std::string_view Trace::read() {
    const ssize_t got = ::read(pipe_.get(), buffer_.data(), buffer_.size());
    return got > 0 ? std::string_view(buffer_.data(), static_cast<std::size_t>(got))
                   : std::string_view();
}

// Both files have one line for each probe, in the same order, but only the first has the group:
// "p:rocexray_123/post rdma_rxe:rxe_post_send qpn=...", "  post    4    0" (calls, missed).
std::uint64_t Trace::missed() const {
    std::ifstream events(root_ + "/kprobe_events"), profile(root_ + "/kprobe_profile");
    std::uint64_t all = 0, hits = 0, misses = 0;
    std::string event, step;
    while (std::getline(events, event) && profile >> step >> hits >> misses)
        if (event.find(fmt::format(":{}/{} ", group_, step)) != std::string::npos)
            all += misses;
    return all;
}

}  // namespace xray

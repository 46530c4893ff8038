#include "tools/rocetrace/collector.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "runlog/log.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"

namespace rocetrace {

namespace key = runlog::key;

namespace {

constexpr std::int64_t all_times = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t second = 1'000'000'000;

constexpr std::string_view socket_name = "/socket";

// Programs that root starts may change their user.
bool serves_all_users() {
    return geteuid() == 0;
}

std::string make_folder() {
    const char* parent = std::getenv("XDG_RUNTIME_DIR");
    for (std::string base : {std::string(parent == nullptr ? "" : parent), std::string("/tmp")}) {
        struct stat facts {};
        if (base.empty() || stat(base.c_str(), &facts) != 0 ||
            (serves_all_users() && (facts.st_mode & S_IXOTH) == 0))
            continue;
        base += "/rocetrace.XXXXXX";
        if (base.size() + socket_name.size() >= sizeof sockaddr_un::sun_path ||
            mkdtemp(base.data()) == nullptr)
            continue;
        // Others cannot list the folder, so they need the whole path.
        if (serves_all_users())
            CHECK_ERRNO(chmod(base.c_str(), 0711));
        return base;
    }
    throw util::Error(
        fmt::format("cannot create a folder for the socket in /tmp: {}", std::strerror(errno)));
}

util::Fd listen_at(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    util::Fd fd(CHECK_ERRNO(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
    CHECK_ERRNO(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
    if (serves_all_users())
        CHECK_ERRNO(chmod(path.c_str(), 0666));
    CHECK_ERRNO(listen(fd.get(), 1024));
    return fd;
}

// Returns the descriptor that a process has sent; empty if it sent none.
util::Fd receive_descriptor(int connection) {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != 1)
        return {};
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS ||
        header->cmsg_len != CMSG_LEN(sizeof(int)))
        return {};
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return util::Fd(fd);
}

runlog::Fields end_of(const tracelog::Region& process, const Collector::StatusOf& status_of) {
    runlog::Fields fields{{key::pid, process.pid()}};
    const auto status = status_of(static_cast<pid_t>(process.pid()));
    if (status && WIFEXITED(*status))
        fields.emplace_back(key::exit_status, static_cast<unsigned>(WEXITSTATUS(*status)));
    else if (status)
        fields.emplace_back(key::signal, static_cast<unsigned>(WTERMSIG(*status)));
    else if (!process.has_left())
        fields.emplace_back(key::end, "signal or _exit");
    return fields;
}

}  // namespace

Collector::Collector(const std::string& path, std::string role, bool mask_psns)
    : log_(path),
      role_(std::move(role)),
      renderer_(role_),
      socket_path_(folder_.path + std::string(socket_name)),
      listener_(listen_at(socket_path_)),
      merge_([this](std::span<const std::byte> record, const tracelog::Writer& writer) {
          return write(record, writer);
      }) {
    if (mask_psns)
        mask_.emplace();
}

Collector::Folder::Folder() : path(make_folder()) {}

Collector::Folder::~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}

bool Collector::write(std::span<const std::byte> record, const tracelog::Writer& writer) {
    // Nothing more is written: records that nobody would read take no time, either.
    if (!log_.error().empty() && !prints_text_)
        return true;
    bool is_record = false;
    if (!mask_ && !prints_text_) {
        is_record = renderer_.append(log_.buffer(), record, writer);
    } else if (auto event = tracelog::decode(record, role_, writer)) {
        is_record = true;
        if (mask_)
            mask_->hide(*event);
        write(*event);
    }
    log_.write(false);
    return is_record;
}

void Collector::write(const runlog::Event& event) {
    log_.buffer().append(runlog::to_json(event)).push_back('\n');
    if (!prints_text_)
        return;
    // As runlog::Log prints it: an error without its time.
    if (event.is("error") && !event.fields.empty())
        text_ += fmt::format("{}: {}\n", role_,
                             util::printable(std::get<std::string>(event.fields[0].value)));
    else
        text_ += fmt::format("{} {} {}\n", runlog::time_of_day(event.t_ns), role_,
                             runlog::to_text(event));
}

void Collector::note(std::int64_t t_ns, runlog::EventName name, runlog::Fields fields) {
    write({t_ns, role_, std::string(name.row().name), std::move(fields)});
}

void Collector::note_in_order(std::int64_t t_ns, runlog::EventName name, runlog::Fields fields) {
    waiting_.push_back({t_ns, role_, std::string(name.row().name), std::move(fields)});
}

void Collector::write_until(std::int64_t t_ns) {
    for (; !waiting_.empty() && waiting_.front().t_ns <= t_ns; waiting_.pop_front()) {
        merge_.take(regions(), waiting_.front().t_ns);
        write(waiting_.front());
    }
    merge_.take(regions(), t_ns);
}

void Collector::flush() {
    log_.write(true);
    if (!text_.empty())
        util::print_error(std::exchange(text_, {}));
}

bool Collector::take_up_one() {
    const util::Fd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection)
        return false;
    ucred peer{};
    socklen_t size = sizeof peer;
    const util::Fd memory = receive_descriptor(connection.get());
    if (!memory || getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return true;
    Process process;
    try {
        process.region =
            std::make_unique<tracelog::Region>(memory, static_cast<std::uint32_t>(peer.pid));
    } catch (const util::Error& error) {
        util::print_error(fmt::format("rocetrace: {}.\n", error.what()));
        return true;
    }
    process.alive = util::Fd(static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0)));
    note(process.region->t_ns(), "process",
         {{key::pid, peer.pid},
          {key::comm, process.region->name()},
          {key::command, process.region->command()}});
    processes_.push_back(std::move(process));
    ++seen_;
    return true;
}

void Collector::take_up() {
    while (take_up_one()) {
    }
}

std::vector<tracelog::Region*> Collector::regions() {
    std::vector<tracelog::Region*> all;
    for (const Process& process : processes_)
        all.push_back(process.region.get());
    return all;
}

void Collector::look_for_ended() {
    for (Process& process : processes_) {
        pollfd ready{process.alive.get(), POLLIN, 0};
        // Without a pidfd: the process ended before it was added, or the kernel has no pidfds.
        if (!process.alive || (poll(&ready, 1, 0) == 1 && ready.revents != 0))
            process.has_ended = kill(static_cast<pid_t>(process.region->pid()), 0) != 0 ||
                                static_cast<bool>(process.alive);
        if (process.has_ended)
            process.region->end();
    }
}

void Collector::note_missing() {
    const auto add = [&](std::uint64_t records, std::uint32_t pid, std::uint32_t tid) {
        if (records != 0)
            note(runlog::now_ns(), "dropped",
                 {{key::records, records}, {key::pid, pid}, {key::tid, tid}});
        return records;
    };
    for (const Process& process : processes_) {
        const std::uint32_t pid = process.region->pid();
        for (auto& ring : process.region->rings())
            dropped_ += add(ring->reader.newly_dropped(), pid, ring->writer.tid);
        homeless_ += add(process.region->newly_homeless(), pid, 0);
        if (process.region->is_newly_damaged()) {
            note(runlog::now_ns(), "damaged", {{key::pid, pid}});
            damaged_.push_back(pid);
        }
    }
}

void Collector::step(const StatusOf& status_of) {
    // Checks which processes have ended before it reads their rings, which then contain all their
    // records. An ended process has also connected before.
    look_for_ended();
    take_up();
    const std::int64_t now = runlog::now_ns();
    // If the clock was set back, records written before have times in the future.
    const auto left_ns = merge_.earliest_left();
    const bool clock_was_set = now < last_step_ns_ || (left_ns && *left_ns > now + second);
    // What a program printed comes before its end.
    const bool has_last = !waiting_.empty() && std::ranges::any_of(processes_, &Process::has_ended);
    write_until(clock_was_set || has_last ? all_times : last_step_ns_);
    for (const Process& process : processes_)
        if (process.has_ended)
            merge_.take(*process.region, all_times);
    note_missing();
    std::erase_if(processes_, [&](const Process& process) {
        if (process.has_ended)
            note(now, "process_end", end_of(*process.region, status_of));
        return process.has_ended;
    });
    last_step_ns_ = now;
    flush();
}

std::size_t Collector::running() const {
    return processes_.size();
}

std::vector<int> Collector::watched() const {
    std::vector<int> all;
    for (const Process& process : processes_)
        if (process.alive)
            all.push_back(process.alive.get());
    return all;
}

void Collector::finish() {
    take_up();
    for (const Process& process : processes_)
        process.region->end();
    write_until(all_times);
    note_missing();
    flush();
}

}  // namespace rocetrace

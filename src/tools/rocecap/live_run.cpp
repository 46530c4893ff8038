#include "tools/rocecap/live_run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "util/check.hpp"
#include "util/printable.hpp"
#include "util/sandbox.hpp"

namespace rocecap {
namespace {

// Bytes that may wait for a slow reader (an ssh connection, a terminal) before the ring fills, too.
constexpr std::size_t backlog_limit = std::size_t{128} * 1024 * 1024;

// The clock of the kernel's timestamps.
capture::Time now() {
    return std::chrono::system_clock::now().time_since_epoch();
}

util::Deadline deadline_of(const std::optional<double>& seconds) {
    if (!seconds)
        return std::nullopt;
    return util::deadline_in(
        std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(*seconds)));
}

}  // namespace

LiveRun::LiveRun(const Options& options)
    : options_(options),
      privileges_(util::plan_privilege_drop(options.user)),
      rdma_devices_(capture::rdma_devices()),
      source_({.interface = options.interface,
               .filter = options.filter,
               .snaplen = options.snaplen,
               .buffer_bytes = options.buffer_mib * 1024 * 1024,
               .promiscuous = options.promiscuous,
               .rdma_devices = rdma_devices_}) {
    begin_ = now();
    deadline_ = deadline_of(options.seconds);
    if (options.rotation.is_wanted()) {
        util::drop_privileges(privileges_);
        need_writable_folder();
        open_outputs();
    } else {
        open_outputs();
        util::drop_privileges(privileges_);
    }
    util::enter_sandbox();
}

// access(2) checks the real user, which is the effective one by now.
void LiveRun::need_writable_folder() const {
    std::string folder = std::filesystem::path(options_.write.value()).parent_path();
    if (folder.empty())
        folder = ".";
    if (privileges_.user && access(folder.c_str(), W_OK | X_OK) != 0)
        throw util::Error(
            fmt::format("{} may not write to '{}', and rocecap drops root privileges before it "
                        "creates new files there: choose another folder or user (--user), or keep "
                        "root privileges (--user root).",
                        privileges_.user->name, folder));
}

void LiveRun::open_outputs() {
    if (options_.write)
        writer_.emplace(capture::RotatingWriter::Options{
            .path = *options_.write,
            .output = {.owner =
                           privileges_.user ? std::optional(privileges_.user->uid) : std::nullopt,
                       .stop = &stop_,
                       .end = deadline_},
            .rotation = options_.rotation,
            .section =
                {.hardware = {}, .os = capture::os_name(), .application = "rocecap", .comment = {}},
            .interface = {.link_type = source_.link_type(),
                          .name = options_.interface,
                          .description = {},
                          .filter = source_.filter(),
                          .snaplen = static_cast<std::uint32_t>(options_.snaplen)},
            .begin = begin_,
            .counters = [this] { return source_.counters(); },
            .opened = [this](capture::Sink& sink) { prepare(sink); }});
    if (options_.write != "-" && !options_.quiet)
        prepare(printer_.emplace(options_.display).sink());
}

void LiveRun::prepare(capture::Sink& sink) {
    // Only for a file created here. A file system without owners returns EPERM.
    const auto& user = privileges_.user;
    if (sink.is_new() && user && user->uid != geteuid() &&
        fchown(sink.fd(), user->uid, user->gid) != 0 && errno != EPERM)
        util::throw_system_error(
            errno, fmt::format("cannot change the owner of {} to {}", sink.name(), user->name));
    sink.give_up_on(stop_, deadline_);
    sink.set_buffer_limit(backlog_limit);
}

int LiveRun::run() {
    std::exception_ptr failure;
    const auto attempt = [&](auto step) {
        try {
            step();
        } catch (const capture::ReaderGone&) {  // NOLINT(bugprone-empty-catch): a clean end
        } catch (...) {
            if (!failure)
                failure = std::current_exception();
        }
    };
    say_ready();
    attempt([&] { capture(); });
    for (capture::Sink* sink : outputs())
        if (sink != nullptr)
            sink->give_up_on(stop_, util::Clock::now());
    attempt([&] { close(); });
    say_end();
    if (failure)
        std::rethrow_exception(failure);
    return printer_ ? printer_->exit_code() : fine;
}

void LiveRun::capture() {
    while (packets_ < options_.count) {
        // The capture must also end if the load never leaves the ring empty.
        const bool more = take_some(capture::Time::max());
        flush_some();
        if (more && !stop_.requested() && !util::is_past(deadline_))
            continue;
        const Wake wake = more ? Wake::end : wait();
        if (wake == Wake::reader_gone)
            return;
        if (wake == Wake::end)
            return drain();
    }
}

// Takes a limited number of packets. Returns false if none is left, or if the next one is later
// than `until`.
bool LiveRun::take_some(capture::Time until) {
    constexpr int enough = 256;
    for (int i = 0; i < enough && packets_ < options_.count; ++i) {
        const auto frame = source_.next();
        if (!frame || frame->time > until)
            return false;
        take(*frame);
    }
    return true;
}

void LiveRun::take(const capture::Frame& frame) {
    ++packets_;
    if (writer_)
        writer_->packet(frame);
    if (printer_)
        printer_->print(frame);
}

LiveRun::Wake LiveRun::wait() {
    while (true) {
        // An output without backlog requests no event: poll(2) reports a pipe without a reader in
        // any case.
        std::array<pollfd, 4> fds{{{stop_.fd(), POLLIN, 0}, {source_.fd(), POLLIN, 0}}};
        std::ranges::transform(outputs(), fds.begin() + 2, [](const capture::Sink* sink) {
            if (sink == nullptr)
                return pollfd{-1, 0, 0};
            return pollfd{sink->fd(), static_cast<short>(sink->has_backlog() ? POLLOUT : 0), 0};
        });
        const int ready = poll(fds.data(), fds.size(), util::poll_timeout(deadline_));
        if (ready < 0 && errno == EINTR)
            continue;
        util::check_errno(ready, "poll");
        if (stop_.requested() || (ready == 0 && util::is_past(deadline_)))
            return Wake::end;
        if (fds[1].revents != 0)
            return Wake::packets;
        if (((fds[2].revents | fds[3].revents) & ~POLLOUT) != 0)
            return Wake::reader_gone;
        flush_some();
    }
}

// The kernel may delay a packet by the ring's latency: waits for those that passed before the end.
void LiveRun::drain() {
    const capture::Time until = now();
    const util::Deadline deadline = util::deadline_in(3 * source_.latency());
    while (packets_ < options_.count) {
        if (take_some(until))
            continue;
        if (util::is_past(deadline))
            return;
        pollfd ring{source_.fd(), POLLIN, 0};
        if (poll(&ring, 1, util::poll_timeout(deadline)) < 0 && errno != EINTR)
            util::check_errno(-1, "poll");
    }
}

std::array<capture::Sink*, 2> LiveRun::outputs() {
    return {writer_ ? &writer_->sink() : nullptr, printer_ ? &printer_->sink() : nullptr};
}

// The ring has priority over the readers: data that they have not taken yet stays in the sinks.
void LiveRun::flush_some() {
    for (capture::Sink* sink : outputs())
        if (sink != nullptr)
            sink->flush_some();
}

void LiveRun::close() {
    if (writer_)
        writer_->close(now());
    if (printer_)
        printer_->sink().close();
}

void LiveRun::say_ready() const {
    if (const auto warning = capture::offload_warning(rdma_devices_, options_.interface))
        util::print_error(fmt::format("rocecap: warning: {}\n", *warning));
    util::print_error(fmt::format("rocecap: ready, capturing on {} (filter: {})\n",
                                  util::printable(options_.interface),
                                  util::printable(source_.filter())));
}

void LiveRun::say_end() const {
    const capture::LiveCounters counters = source_.counters();
    std::fputs(fmt::format("rocecap: {} packets captured, {} dropped by the kernel, {} dropped by "
                           "the interface\n",
                           packets_, counters.dropped_by_kernel, counters.dropped_by_interface)
                   .c_str(),
               stderr);
    if (printer_)
        print_note(printer_->left_out());
}

}  // namespace rocecap

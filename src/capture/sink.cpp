#include "capture/sink.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <random>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <climits>
#include <fmt/format.h>

#include "util/check.hpp"
#include "util/printable.hpp"

namespace capture {
namespace {

constexpr std::chrono::seconds last_chance{2};

std::string reason(int error) {
    return std::generic_category().message(error);
}

// Opens a file without a name, which disappears if the program is killed. If the file system does
// not support these, opens a named one and sets `temporary`.
util::Fd open_unnamed(const std::string& path, std::string& temporary) {
    const auto folder = std::filesystem::path(path).parent_path();
    util::Fd fd(open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC,
                     S_IRUSR | S_IWUSR));
    if (!fd && (errno == EOPNOTSUPP || errno == EISDIR)) {
        temporary = path + ".XXXXXX";
        fd = util::Fd(mkostemp(temporary.data(), O_CLOEXEC));
    }
    if (!fd)
        throw util::Error(fmt::format("cannot write '{}': {}.", path, reason(errno)));
    return fd;
}

// Links such a file to a name beside `path`; returns an empty string and sets errno on failure.
std::string name_beside(const std::string& path, int fd) {
    const std::string unnamed = fmt::format("/proc/self/fd/{}", fd);
    for (unsigned i = 0; i < 100; ++i) {
        std::string name = fmt::format("{}.{:08x}", path, std::random_device()());
        if (linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
            return name;
        if (errno != EEXIST)
            break;
    }
    return {};
}

}  // namespace

Sink Sink::create(const std::string& path, const util::OutputOptions& options) {
    util::OutputFile file = util::open_output(path, options);
    Sink sink(std::move(file.fd), "'" + path + "'");
    sink.is_new_ = file.is_new;
    sink.has_older_content_ = sink.kind_ == Kind::file && !file.is_new;
    sink.ends_with_ours_ = sink.kind_ == Kind::file;
    sink.path_ = path;
    return sink;
}

Sink Sink::replace(const std::string& path) {
    struct stat status {};
    const bool is_there = lstat(path.c_str(), &status) == 0;
    if (is_there && !S_ISREG(status.st_mode))
        return create(path);
    if (is_there)
        util::open_output(path);  // a file that may not be written may not be replaced
    std::string temporary;
    Sink sink(open_unnamed(path, temporary), "'" + path + "'");
    sink.path_ = path;
    sink.replaces_ = true;
    sink.temporary_ = std::move(temporary);
    if (is_there && (fchown(sink.fd(), status.st_uid, status.st_gid) == 0 || errno == EPERM))
        util::check_errno(fchmod(sink.fd(), status.st_mode & 07777U), "fchmod " + path);
    return sink;
}

Sink Sink::standard_output() {
    util::Fd fd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!fd)
        throw util::Error(fmt::format("cannot write to standard output: {}.", reason(errno)));
    return {std::move(fd), "standard output"};
}

Sink::Sink(util::Fd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {
    struct stat status {};
    if (fstat(fd_.get(), &status) != 0)
        return;
    if (S_ISREG(status.st_mode)) {
        kind_ = Kind::file;
        ends_with_ours_ = lseek(fd_.get(), 0, SEEK_CUR) == status.st_size;
    } else if (S_ISSOCK(status.st_mode))
        kind_ = Kind::socket;
}

Sink::~Sink() {
    if (!fd_)
        return;
    if (replaces_) {
        if (!temporary_.empty())
            unlink(temporary_.c_str());
        return;
    }
    try {
        close();
    } catch (const ReaderGone&) {  // NOLINT(bugprone-empty-catch): nobody is left to read an error
    } catch (const std::exception& e) {
        util::print_error(fmt::format("{}\n", e.what()));
    }
}

void Sink::append(std::span<const std::byte> record) {
    buffer_.insert(buffer_.end(), record.begin(), record.end());
    appended_ += record.size();
    if (ends_with_ours_)
        record_ends_.push_back(buffer_.size());
    if (buffer_.size() - written_ >= buffer_limit_)
        flush();
}

void Sink::append(std::string_view line) {
    if (util::are_printable_lines(line))
        append(std::as_bytes(std::span(line)));
    else
        append(std::as_bytes(std::span<const char>(util::printable_lines(line))));
}

void Sink::flush() {
    while (has_backlog()) {
        const bool may_block = stop_ == nullptr && !end_;
        if (kind_ != Kind::file && !may_block && !wait_writable())
            fail(ETIMEDOUT);
        write_once(may_block);
    }
    forget_written();
}

void Sink::flush_some() {
    while (has_backlog() && (kind_ == Kind::file || is_writable()))
        write_once(false);
    forget_written();
}

void Sink::write_once(bool may_block) {
    const std::byte* data = buffer_.data() + written_;
    const std::size_t length = buffer_.size() - written_;
    ssize_t n = 0;
    if (kind_ == Kind::file || (kind_ == Kind::pipe && may_block))
        n = write(fd_.get(), data, length);
    else if (kind_ == Kind::socket)  // standard output under sshd
        n = send(fd_.get(), data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    else  // a pipe that poll() reports as writable takes this much without blocking: pipe(7)
        n = write(fd_.get(), data, std::min<std::size_t>(length, PIPE_BUF));
    if (n >= 0) {
        written_ += static_cast<std::size_t>(n);
        drop_older_content();
    } else if (errno == EAGAIN && may_block) {  // a socket, or another program changed the pipe
        wait_writable();
    } else if (errno != EINTR && errno != EAGAIN) {
        fail(errno);
    }
}

// Called only after a successful write: if the first write fails, the old content is kept.
void Sink::drop_older_content() {
    if (std::exchange(has_older_content_, false))
        cut_at(lseek(fd_.get(), 0, SEEK_CUR));
}

void Sink::cut_at(off_t size) const {
    if (size >= 0 && ftruncate(fd_.get(), size) == 0)
        lseek(fd_.get(), size, SEEK_SET);
}

// Moves the rest to the front only if it is shorter than the written part, so that a long backlog
// is not moved repeatedly.
void Sink::forget_written() {
    if (written_ < buffer_.size() - written_)
        return;
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(written_));
    written_ = 0;
    record_ends_.clear();
}

bool Sink::is_writable() const {
    pollfd fd{fd_.get(), POLLOUT, 0};
    return poll(&fd, 1, 0) == 1;
}

void Sink::close() {
    if (!fd_)
        return;
    flush();
    drop_older_content();
    const bool replaces = std::exchange(replaces_, false);
    std::string temporary = std::exchange(temporary_, {});
    if (replaces && temporary.empty())
        temporary = name_beside(path_, fd_.get());
    const bool has_name = !replaces || !temporary.empty();
    if (has_name && (::close(fd_.release()) == 0 || errno == EINTR) &&
        (!replaces || rename(temporary.c_str(), path_.c_str()) == 0))
        return;
    const int error = errno;
    if (!temporary.empty())
        unlink(temporary.c_str());
    throw util::Error(fmt::format("{}cannot finish writing {}: {}.", loss_, name_, reason(error)));
}

bool Sink::wait_writable() const {
    util::Deadline deadline;
    while (true) {
        if (!deadline && ((stop_ != nullptr && stop_->requested()) || util::is_past(end_)))
            deadline = util::Clock::now() + last_chance;
        std::array<pollfd, 2> fds{{{fd_.get(), POLLOUT, 0}, {-1, POLLIN, 0}}};
        if (stop_ != nullptr && !deadline)
            fds[1].fd = stop_->fd();
        const int ready =
            poll(fds.data(), fds.size(), util::poll_timeout(deadline ? deadline : end_));
        if (ready < 0 && errno == EINTR)
            continue;
        util::check_errno(ready, "poll");
        if (fds[0].revents != 0)
            return true;
        if (util::is_past(deadline))
            return false;
    }
}

void Sink::fail(int error) {
    struct stat status {};
    const off_t end = lseek(fd_.get(), 0, SEEK_CUR);
    if (has_older_content_) {
        fd_.reset();  // nothing was written: the file stays unchanged
    } else if (ends_with_ours_ && fstat(fd_.get(), &status) == 0 && status.st_size == end) {
        const auto next = std::upper_bound(record_ends_.begin(), record_ends_.end(), written_);
        const std::size_t whole = next == record_ends_.begin() ? 0 : *std::prev(next);
        const off_t size = end - static_cast<off_t>(written_ - whole);
        cut_at(size);
        if (size == 0 && is_new_ && unlink(path_.c_str()) == 0)
            fd_.reset();
    }
    buffer_.clear();
    written_ = 0;
    record_ends_.clear();
    if (error == EPIPE || error == ECONNRESET)
        throw ReaderGone(fmt::format("the reader of {} has closed it.", name_));
    if (error == ETIMEDOUT)
        throw util::Error(
            fmt::format("{}gave up writing to {}: its reader does not read.", loss_, name_));
    throw util::Error(fmt::format("{}cannot write to {}: {}.", loss_, name_, reason(error)));
}

}  // namespace capture

#include "capture/input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/error.hpp"

namespace capture {
namespace {

constexpr const char* what_is_read = "give a pcap or pcapng capture";

util::Fd open_file(const std::string& path, const std::string& name) {
    if (path == "-")
        return {};
    // Of a FIFO, open() waits for a writer.
    util::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        throw util::Error(fmt::format("cannot open {}: {}.", name, std::strerror(errno)));
    return file;
}

// Whether it is a pipe or a socket.
bool is_stream(int fd, const std::string& name) {
    struct stat status {};
    if (fstat(fd, &status) != 0)
        throw util::Error(fmt::format("cannot read {}: {}.", name, std::strerror(errno)));
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)  // main() opened it in the place of none
        throw util::Error(fmt::format("{} is closed: {}.", name, what_is_read));
    if (S_ISDIR(status.st_mode))
        throw util::Error(fmt::format("{} is a directory: {}.", name, what_is_read));
    if (isatty(fd) == 1)
        throw util::Error(fmt::format("{} is a terminal: {}.", name, what_is_read));
    if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
        throw util::Error(fmt::format("{} is a device: {}.", name, what_is_read));
    return !S_ISREG(status.st_mode);
}

}  // namespace

Input::Input(const std::string& path)
    : name_(path == "-" ? "standard input" : "'" + path + "'"),
      file_(open_file(path, name_)),
      fd_(file_ ? file_.get() : STDIN_FILENO),
      is_stream_(is_stream(fd_, name_)) {
    look_at_begin();
}

void Input::look_at_begin() {
    while (begin_size_ < begin_.size()) {
        const std::size_t n = read_fd(std::span(begin_).subspan(begin_size_));
        if (n == 0)
            break;
        begin_size_ += n;
    }
    if (begin_size_ == 0)
        throw util::Error(fmt::format("{} is empty: {}.", name_, what_is_read));
}

std::size_t Input::read(std::span<std::byte> buffer) {
    const auto begin = this->begin().subspan(begin_taken_);
    if (begin.empty())
        return read_fd(buffer);
    const std::size_t n = std::min(begin.size(), buffer.size());
    std::ranges::copy(begin.first(n), buffer.begin());
    begin_taken_ += n;
    return n;
}

std::size_t Input::read_fd(std::span<std::byte> buffer) const {
    const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
    if (n < 0)
        throw util::Error(fmt::format("cannot read {}: {}.", name_, std::strerror(errno)));
    return static_cast<std::size_t>(n);
}

bool Input::must_wait() const {
    if (!is_stream_)
        return false;
    pollfd input{fd_, POLLIN, 0};
    return poll(&input, 1, 0) == 0;
}

}  // namespace capture

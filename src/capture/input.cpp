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

// Compressed bytes that a library gets per call: it may lose their output before it finds that they
// are corrupted.
constexpr std::size_t step_limit = std::size_t{16} * 1024;
constexpr std::size_t compressed_chunk = std::size_t{64} * 1024;
constexpr const char* what_is_read = "give a pcap or pcapng capture";

util::Fd open_file(const std::string& path, const std::string& name) {
    if (path == "-")
        return {};
    // open() of a FIFO waits for a writer.
    util::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        throw util::Error(fmt::format("cannot open {}: {}.", name, std::strerror(errno)));
    return file;
}

// Returns whether it is a pipe or a socket.
bool is_stream(int fd, const std::string& name) {
    struct stat status {};
    if (fstat(fd, &status) != 0)
        throw util::Error(fmt::format("cannot read {}: {}.", name, std::strerror(errno)));
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)  // main() opened it in place of a closed one
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
    const auto fill = [this] {
        begin_size_ = 0;
        std::size_t n = 0;
        do {
            n = read_behind_begin(std::span(begin_).subspan(begin_size_));
            begin_size_ += n;
        } while (n != 0 && begin_size_ < begin_.size());
    };
    fill();
    if (begin_size_ == 0)
        throw util::Error(fmt::format("{} is empty: {}.", name_, what_is_read));
    decompressor_ = decompressor_of(begin());
    if (!decompressor_)
        return;
    compressed_ = std::make_unique_for_overwrite<std::byte[]>(compressed_chunk);
    std::ranges::copy(begin(), compressed_.get());
    rest_ = {compressed_.get(), begin_size_};
    fill();
    if (begin_size_ == 0)
        throw util::Error(fmt::format("{} has only the end of {} data: {}.", name_,
                                      decompressor_->name(), what_is_read));
    name_ = "the decompressed " + name_;
}

std::size_t Input::read(std::span<std::byte> buffer) {
    const auto begin = this->begin().subspan(begin_taken_);
    if (begin.empty())
        return read_behind_begin(buffer);
    const std::size_t n = std::min(begin.size(), buffer.size());
    std::ranges::copy(begin.first(n), buffer.begin());
    begin_taken_ += n;
    return n;
}

std::size_t Input::read_behind_begin(std::span<std::byte> buffer) {
    return decompressor_ ? decompress(buffer) : read_fd(buffer);
}

std::size_t Input::decompress(std::span<std::byte> buffer) {
    while (true) {
        if (rest_.empty() && !has_ended_) {
            const std::size_t n = read_fd({compressed_.get(), compressed_chunk});
            rest_ = {compressed_.get(), n};
            has_ended_ = n == 0;
        }
        if (error_ != nullptr)
            throw util::Error(
                fmt::format("{} is damaged: its {} data is not valid at byte {} ({}).", name_,
                            decompressor_->name(), offset_, error_));
        if (has_ended_ && rest_.empty() && decompressor_->may_end())
            return 0;
        // Also at the end of the input: the decompressor may hold output.
        const auto step =
            decompressor_->step(rest_.first(std::min(rest_.size(), step_limit)), buffer);
        rest_ = rest_.subspan(step.taken);
        offset_ += step.taken;
        error_ = step.error;
        if (step.made != 0)
            return step.made;
        if (step.taken == 0 && error_ == nullptr && (has_ended_ || !rest_.empty()))
            throw util::Error(
                fmt::format("{} ends inside its {} data.", name_, decompressor_->name()));
    }
}

std::size_t Input::read_fd(std::span<std::byte> buffer) const {
    const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
    if (n < 0)
        throw util::Error(fmt::format("cannot read {}: {}.", name_, std::strerror(errno)));
    return static_cast<std::size_t>(n);
}

util::Fd Input::rewound() const {
    util::Fd copy(decompressor_ ? -1 : fcntl(fd_, F_DUPFD_CLOEXEC, 0));  // with the same position
    if (copy && lseek(copy.get(), -static_cast<off_t>(begin_size_), SEEK_CUR) < 0)
        return {};
    return copy;
}

bool Input::must_wait() const {
    if (!is_stream_)
        return false;
    pollfd input{fd_, POLLIN, 0};
    return poll(&input, 1, 0) == 0;
}

}  // namespace capture

#include "tools/rocetrace/log_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <fmt/format.h>

#include "util/error.hpp"

namespace rocetrace {

LogFile::LogFile(std::string path) : path_(std::move(path)) {
    if (path_ == "-")
        return;
    file_ = util::Fd(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file_)
        throw util::Error(fmt::format("cannot write the run log {}: {}; choose another -o", path_,
                                      std::strerror(errno)));
    fd_ = file_.get();
}

void LogFile::while_waiting(int fd, std::function<bool()> is_needed) {
    struct stat facts {};
    if (fstat(fd_, &facts) != 0 || S_ISREG(facts.st_mode))
        return;
    wake_fd_ = fd;
    is_needed_ = std::move(is_needed);
}

std::size_t LogFile::wait(std::size_t bytes) const {
    if (wake_fd_ < 0)
        return bytes;
    for (int timeout = 0;; timeout = -1) {  // the signal may have come before
        std::array<pollfd, 2> ready{{{fd_, POLLOUT, 0}, {wake_fd_, POLLIN, 0}}};
        poll(ready.data(), ready.size(), timeout);
        if (ready[0].revents != 0)
            return std::min<std::size_t>(bytes, PIPE_BUF);  // this does not block
        if (!is_needed_())
            return 0;
    }
}

bool LogFile::write(bool all) {
    constexpr std::size_t piece = std::size_t{128} * 1024;
    if (!error_.empty()) {
        buffer_.clear();
        return false;
    }
    if (buffer_.size() < piece && !all)
        return true;
    for (std::size_t done = 0; done < buffer_.size();) {
        const std::size_t piece_now = wait(buffer_.size() - done);
        const ssize_t n = piece_now == 0 ? 0 : ::write(fd_, buffer_.data() + done, piece_now);
        if (n > 0) {
            done += static_cast<std::size_t>(n);
        } else if (n == 0 || errno != EINTR) {
            error_ = n == 0 ? "nothing reads it" : std::strerror(errno);
            const std::size_t whole = buffer_.rfind('\n', done == 0 ? 0 : done - 1);
            const std::uint64_t end =
                written_ + (done == 0 || whole == std::string::npos ? 0 : whole + 1);
            if (file_) [[maybe_unused]]
                const int is_cut = ftruncate(fd_, static_cast<off_t>(end));
            buffer_.clear();
            return false;
        }
    }
    written_ += buffer_.size();
    buffer_.clear();
    return true;
}

}  // namespace rocetrace

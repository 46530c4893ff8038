#include "tools/rocetrace/log_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

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

bool LogFile::write(bool all) {
    constexpr std::size_t piece = std::size_t{128} * 1024;
    if (!error_.empty()) {
        buffer_.clear();
        return false;
    }
    if (buffer_.size() < piece && !all)
        return true;
    for (std::size_t done = 0; done < buffer_.size();) {
        const ssize_t n = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
        if (n > 0) {
            done += static_cast<std::size_t>(n);
        } else if (errno != EINTR) {
            error_ = std::strerror(errno);
            const std::size_t whole = buffer_.rfind('\n', done == 0 ? 0 : done - 1);
            const std::uint64_t end =
                written_ + (done == 0 || whole == std::string::npos ? 0 : whole + 1);
            if (file_)
                static_cast<void>(ftruncate(fd_, static_cast<off_t>(end)));
            buffer_.clear();
            return false;
        }
    }
    written_ += buffer_.size();
    buffer_.clear();
    return true;
}

}  // namespace rocetrace

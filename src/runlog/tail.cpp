#include "runlog/tail.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "util/check.hpp"

namespace runlog {

Tail::Tail(std::string path) : path_(std::move(path)) {}

std::optional<Event> Tail::next() {
    while (true) {
        const auto end = buffer_.find('\n', begin_);
        if (end == std::string::npos) {
            if (!read_more())
                return std::nullopt;
            continue;
        }
        auto event = from_json(std::string_view(buffer_).substr(begin_, end - begin_));
        begin_ = end + 1;
        if (event)
            return event;
        ++skipped_;
    }
}

bool Tail::read_more() {
    if (!fd_) {
        fd_ = util::Fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
        if (!fd_ && errno == ENOENT)
            return false;
        util::check_errno(fd_.get(), "open " + path_);
    }
    buffer_.erase(0, begin_);
    begin_ = 0;
    constexpr std::size_t step = std::size_t{64} * 1024;
    const std::size_t kept = buffer_.size();
    buffer_.resize(kept + step);
    const ssize_t count = read(fd_.get(), buffer_.data() + kept, step);
    buffer_.resize(kept + (count > 0 ? static_cast<std::size_t>(count) : 0));
    util::check_errno(static_cast<int>(count), "read " + path_);
    return count > 0;
}

}  // namespace runlog

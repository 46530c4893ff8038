#include "runlog/tail.hpp"

#include <array>
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
    constexpr std::size_t step = std::size_t{64} * 1024;
    std::array<char, step> chunk;  // NOLINT(cppcoreguidelines-pro-type-member-init): read into
    const ssize_t count = read(fd_.get(), chunk.data(), chunk.size());
    util::check_errno(static_cast<int>(count), "read " + path_);
    if (count == 0)
        return false;
    buffer_.erase(0, begin_);
    begin_ = 0;
    buffer_.append(chunk.data(), static_cast<std::size_t>(count));
    return true;
}

}  // namespace runlog

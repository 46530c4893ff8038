#include "capture/pcapng_tail.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/error.hpp"

namespace capture {

PcapngTail::PcapngTail(const std::string& path, InterfaceChoice choice)
    : name_("'" + path + "'"),
      fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      parser_(name_, std::move(choice)) {
    if (!fd_)
        throw util::Error(fmt::format("cannot open {}: {}.", name_, std::strerror(errno)));
}

std::optional<Frame> PcapngTail::next() {
    std::optional<Frame> frame;
    while (!parser_.next(frame)) {
        const std::span<std::byte> space = parser_.space();
        ssize_t n = 0;
        do {
            n = read(fd_.get(), space.data(), space.size());
        } while (n < 0 && errno == EINTR);
        util::check_errno(static_cast<int>(n), "read of " + name_);
        if (n == 0)
            break;
        parser_.filled(static_cast<std::size_t>(n));
    }
    return frame;
}

}  // namespace capture

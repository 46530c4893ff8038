#include "util/stop_signal.hpp"

#include <algorithm>
#include <array>
#include <poll.h>

#include <climits>

#include "util/check.hpp"

namespace util {

int poll_timeout(Deadline deadline) {
    if (!deadline)
        return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<decltype(left)>(left, 0, INT_MAX));
}

Ready wait_readable(int fd, StopSignal& stop, Deadline deadline) {
    while (true) {
        std::array<pollfd, 2> fds{{{stop.fd(), POLLIN, 0}, {fd, POLLIN, 0}}};
        const int ready = poll(fds.data(), fds.size(), poll_timeout(deadline));
        if (ready < 0 && errno == EINTR)
            continue;
        check_errno(ready, "poll");
        if (stop.requested())
            return Ready::stop;
        if (fds[1].revents != 0)
            return Ready::input;
        if (ready == 0)
            return Ready::timeout;
    }
}

}  // namespace util

#include "util/stop_signal.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>

#include <climits>

#include "util/check.hpp"

namespace util {
namespace {

sigset_t stop_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

}  // namespace

int poll_timeout(Deadline deadline) {
    if (!deadline)
        return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<decltype(left)>(left, 0, INT_MAX));
}

StopSignal::StopSignal() {
    const sigset_t set = stop_signals();
    check_rc(pthread_sigmask(SIG_BLOCK, &set, nullptr), "pthread_sigmask");
    fd_ = Fd(check_errno(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
}

// A signal that arrived and was not waited for any more must not end the program in the middle of
// its own clean-up: it is read off before the mask is lifted.
StopSignal::~StopSignal() {
    requested();
    const sigset_t set = stop_signals();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool StopSignal::requested() {
    signalfd_siginfo info{};
    while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
        requested_ = true;
    return requested_;
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

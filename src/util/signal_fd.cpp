#include "util/signal_fd.hpp"

#include <poll.h>
#include <sys/signalfd.h>

#include "util/check.hpp"

namespace util {

SignalFd::SignalFd(std::initializer_list<int> signals) {
    sigemptyset(&signals_);
    for (const int signal : signals)
        sigaddset(&signals_, signal);
    CHECK_RC(pthread_sigmask(SIG_BLOCK, &signals_, nullptr));
    fd_ = Fd(CHECK_ERRNO(signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK)));
}

SignalFd::~SignalFd() {
    take();
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

bool SignalFd::is_pending() const {
    pollfd poll_fd{fd_.get(), POLLIN, 0};
    return poll(&poll_fd, 1, 0) == 1;
}

bool SignalFd::take() {
    bool has_arrived = false;
    signalfd_siginfo info{};
    while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
        has_arrived = true;
    return has_arrived;
}

}  // namespace util

// Signals as a readable descriptor, so that a program waits for them in the same poll() as for its
// work. Make it first in main, before any thread: threads inherit the blocked mask. Source:
// signalfd(2).
#pragma once

#include <csignal>
#include <initializer_list>

#include "util/fd.hpp"

namespace util {

class SignalFd {
  public:
    explicit SignalFd(std::initializer_list<int> signals);
    /// What has arrived and nobody has taken is taken before the mask is lifted: a late signal must
    /// not end the program in the middle of its own clean-up.
    ~SignalFd();
    SignalFd(const SignalFd&) = delete;
    SignalFd& operator=(const SignalFd&) = delete;
    SignalFd(SignalFd&&) = delete;
    SignalFd& operator=(SignalFd&&) = delete;

    int fd() const { return fd_.get(); }

    /// True where one of the signals has arrived and was not taken. From any thread.
    bool is_pending() const;
    /// The same, and takes it.
    bool take();

  private:
    sigset_t signals_{};
    Fd fd_;
};

}  // namespace util

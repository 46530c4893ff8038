// Signals as a readable descriptor, so that a program can wait for them in the same poll() as for
// other input. Create it first in main, before any thread: threads inherit the blocked mask.
// Source: signalfd(2).
#pragma once

#include <csignal>
#include <initializer_list>

#include "util/fd.hpp"

namespace util {

class SignalFd {
  public:
    explicit SignalFd(std::initializer_list<int> signals);
    /// Takes pending signals before it restores the mask: a late signal must not end the program
    /// during its own clean-up.
    ~SignalFd();
    SignalFd(const SignalFd&) = delete;
    SignalFd& operator=(const SignalFd&) = delete;
    SignalFd(SignalFd&&) = delete;
    SignalFd& operator=(SignalFd&&) = delete;

    int fd() const { return fd_.get(); }

    /// True if a signal has arrived and was not taken. Any thread may call it.
    bool is_pending() const;
    /// The same, but also takes the signal.
    bool take();

  private:
    sigset_t signals_{};
    Fd fd_;
};

}  // namespace util

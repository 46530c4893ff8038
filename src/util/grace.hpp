// Ctrl-C for a program that reads a pipe to its end: the writer receives the signal, too, and the
// reader waits a short time for its last output.
#pragma once

#include <csignal>

namespace util {

/// While an object exists, SIGINT and SIGTERM do not end the program. Two seconds after the first
/// signal, blocked reads fail with EINTR repeatedly, and expired() is true; a second signal ends
/// the program immediately. Only one object at a time: signals are per process.
class Grace {
  public:
    Grace();
    ~Grace();
    Grace(const Grace&) = delete;
    Grace& operator=(const Grace&) = delete;
    Grace(Grace&&) = delete;
    Grace& operator=(Grace&&) = delete;

    bool expired() const;

  private:
    struct sigaction interrupt_ {};
    struct sigaction terminate_ {};
    struct sigaction alarm_ {};
};

}  // namespace util

// Ctrl-C for a program that reads a pipe to its end: the writer gets the signal, too, and the
// reader waits a short time for its last output.
#pragma once

#include <csignal>

namespace util {

/// While it lives, SIGINT and SIGTERM do not end the program. Two seconds after the first one,
/// reads that wait fail with EINTR, again and again, and expired() is true; a second one ends the
/// program at once. One at a time: signals belong to the whole process.
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

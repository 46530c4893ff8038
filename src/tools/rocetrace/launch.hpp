// The traced program as a child: it gets the library, and rocetrace's signals are passed on to it.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "util/fd.hpp"

namespace rocetrace {

struct Environment {
    std::string library;  // librocetrace.so
    std::string audit;    // librocetrace-audit.so; empty: without
    std::string socket;
    std::string only;                    // a number; empty: all categories
    std::string buffer;                  // MiB; empty: the library's default
    std::vector<std::string> variables;  // the user's, as NAME=VALUE
};

/// Removes the words NAME=VALUE before the program, which set its environment as with env(1).
std::vector<std::string> take_variables(std::vector<std::string>& command);

class Child {
  public:
    /// Starts the program. Throws util::Error where it cannot be started; `exit_code` of the error
    /// is 127 where there is no such program, 126 otherwise.
    Child(const std::vector<std::string>& command, const Environment& environment);

    pid_t pid() const { return pid_; }
    /// Readable when a signal came.
    int signals() const { return signals_.get(); }
    /// Passes on what came from a process, and takes the child's end. A signal from the terminal
    /// went to the child, too.
    void take_signals();
    bool has_ended() const { return has_ended_; }
    /// Whether rocetrace was asked to end after the child had.
    bool is_asked_to_end() const { return is_asked_to_end_; }
    /// Ends this process as the child ended: with its exit status, or by the same signal.
    [[noreturn]] void end_like_it(int otherwise) const;
    /// As waitpid() has it.
    int status() const { return status_; }

  private:
    pid_t pid_ = -1;
    util::Fd signals_;
    int status_ = 0;
    bool has_ended_ = false;
    bool is_asked_to_end_ = false;
};

/// A program that cannot be started, with the exit status for that.
struct StartError {
    std::string text;
    int exit_code;
};

}  // namespace rocetrace

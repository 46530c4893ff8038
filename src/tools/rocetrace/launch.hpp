// The traced program as a child process: it loads the library, and receives rocetrace's signals.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tools/rocetrace/program_output.hpp"
#include "util/fd.hpp"

namespace rocetrace {

struct Environment {
    std::string library;  // librocetrace.so
    std::string audit;    // librocetrace-audit.so; empty: not used
    std::string socket;
    std::string only;                    // a number; empty: all categories
    std::string buffer;                  // MiB; empty: the library's default
    std::vector<std::string> variables;  // the user's, as NAME=VALUE
    std::vector<ProgramOutput> outputs;  // the streams that rocetrace reads
};

/// Removes and returns the NAME=VALUE arguments before the program, as in env(1).
std::vector<std::string> take_variables(std::vector<std::string>& command);

class Child {
  public:
    /// Starts the program. Throws StartError if it cannot be started: `exit_code` is 127 if the
    /// program does not exist, 126 otherwise.
    Child(const std::vector<std::string>& command, const Environment& environment);

    /// Readable when a signal has arrived.
    int signals() const { return signals_.get(); }
    /// Forwards signals sent by processes, and collects the child's exit status. The terminal's
    /// signals have already reached the child.
    void take_signals();
    /// After the child's end: later signals end this process, as they would have before.
    void accept_signals();
    bool has_ended() const { return has_ended_; }
    /// Whether rocetrace was told to end after the child had ended.
    bool is_asked_to_end() const { return is_asked_to_end_; }
    /// Whether a signal has told both to end, and the child has.
    bool has_been_ended() const { return has_ended_ && was_told_to_end_; }
    /// Ends this process as the child ended: with its exit status, or by the same signal.
    [[noreturn]] void end_like_it(int otherwise) const;
    /// The status from waitpid() of a process that has ended; nullopt: it is not the child.
    std::optional<int> status_of(pid_t pid);

  private:
    void reap();

    pid_t pid_ = -1;
    sigset_t before_{};  // the signals that were blocked before
    util::Fd signals_;
    int status_ = 0;
    bool has_ended_ = false;
    bool is_asked_to_end_ = false;
    bool was_told_to_end_ = false;
};

/// A program that cannot be started, and the exit status for this error.
struct StartError {
    std::string text;
    int exit_code;
};

}  // namespace rocetrace

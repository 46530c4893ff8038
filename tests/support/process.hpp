// Programs run as a user runs them: arguments in, exit code and output out, within a time.
#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <sys/types.h>
#include <vector>

#include "util/fd.hpp"

namespace support {

using Argv = std::vector<std::string>;

struct Outcome {
    int exit_code = -1;  // 128 + the signal's number where one ended it
    bool timed_out = false;
    std::string out;
    std::string err;
    std::chrono::milliseconds took{};

    std::string all() const { return "exit " + std::to_string(exit_code) + "\n" + out + err; }
};

/// What a program finds on its standard input: nothing, or a pipe that stays open until
/// close_input() or the Process's end.
enum class Input { nothing, held_open };

/// A running program. Whatever the test does, its end is the program's: the destructor closes the
/// input, gives a program that had one a moment to end by itself, kills and waits.
class Process {
  public:
    /// argv[0] is looked for in PATH. `environment`: "NAME=value", on top of this process's own.
    explicit Process(const Argv& argv, const Argv& environment = {}, Input input = Input::nothing);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    Process(Process&&) = delete;
    Process& operator=(Process&&) = delete;

    pid_t pid() const { return pid_; }
    void signal(int number) const;
    void close_input() { in_.reset(); }

    /// Reads until `text` has been printed (on either stream); false when the program ended or the
    /// time was over first.
    bool await(const std::string& text, std::chrono::milliseconds time);

    /// What await() has read of its standard output so far.
    const std::string& output() const { return outcome_.out; }

    /// Waits for the end; kills the program when the time is over.
    Outcome wait(std::chrono::milliseconds time);

  private:
    bool read_some(std::chrono::steady_clock::time_point deadline);

    pid_t pid_ = -1;
    std::chrono::steady_clock::time_point started_;
    util::Fd in_, out_, err_;
    Outcome outcome_;
};

/// Runs to the end.
Outcome run(const Argv& argv, const Argv& environment = {},
            std::chrono::milliseconds time = std::chrono::seconds(60));

}  // namespace support

// Runs programs like a user: with arguments, exit code, output and a time limit.
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
    int exit_code = -1;  // 128 + signal number if a signal ended it
    bool timed_out = false;
    std::string out;
    std::string err;
    std::chrono::milliseconds took{};

    std::string all() const { return "exit " + std::to_string(exit_code) + "\n" + out + err; }
};

/// The standard input of a program: empty, or a pipe that stays open until close_input() or the end
/// of the Process.
enum class Input { nothing, held_open };

/// A running program, which never outlives this object: the destructor closes the input, gives a
/// program with an input a moment to end by itself, then kills it and waits.
class Process {
  public:
    /// Searches argv[0] in PATH. `environment`: "NAME=value", added to this process's environment.
    explicit Process(const Argv& argv, const Argv& environment = {}, Input input = Input::nothing);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    Process(Process&&) = delete;
    Process& operator=(Process&&) = delete;

    pid_t pid() const { return pid_; }
    void signal(int number) const;
    void close_input() { in_.reset(); }

    /// Reads until the program has printed `text` on one of its streams. Returns false if it ended
    /// or the time limit passed before.
    bool await(const std::string& text, std::chrono::milliseconds time);

    /// The standard output that await() has read so far.
    const std::string& output() const { return outcome_.out; }

    /// Waits for the end; kills the program at the time limit.
    Outcome wait(std::chrono::milliseconds time);

  private:
    bool read_some(std::chrono::steady_clock::time_point deadline);

    pid_t pid_ = -1;
    std::chrono::steady_clock::time_point started_;
    util::Fd in_, out_, err_;
    Outcome outcome_;
};

/// Runs a program and waits for its end.
Outcome run(const Argv& argv, const Argv& environment = {},
            std::chrono::milliseconds time = std::chrono::minutes(3));

}  // namespace support

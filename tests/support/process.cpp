#include "support/process.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/check.hpp"

namespace support {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
    util::Fd read, write;

    Pipe() {
        std::array<int, 2> fds{};
        CHECK_ERRNO(pipe2(fds.data(), O_CLOEXEC));
        read = util::Fd(fds[0]);
        write = util::Fd(fds[1]);
    }
};

// A test names the time that suffices on an idle machine. Four times as long, up to a minute more:
// compilers and emulated guests may share the CPUs.
std::chrono::milliseconds on_a_busy_machine(std::chrono::milliseconds time) {
    return time + std::min<std::chrono::milliseconds>(3 * time, std::chrono::minutes(1));
}

// Returns false at the end of the stream.
bool drain(util::Fd& fd, std::string& into) {
    std::array<char, 65536> buffer{};
    const ssize_t count = read(fd.get(), buffer.data(), buffer.size());
    if (count <= 0) {
        fd.reset();
        return false;
    }
    into.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
}

}  // namespace

Process::Process(const Argv& argv, const Argv& environment, Input input) : started_(Clock::now()) {
    Pipe in, out, err;
    std::vector<char*> words;
    for (const std::string& word : argv)
        words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_ = CHECK_ERRNO(fork());
    if (pid_ == 0) {
        setpgid(0, 0);  // so that a signal also reaches the children of a script
        // A shell ignores these signals in background processes, and a script cannot then catch
        // them.
        ::signal(SIGINT, SIG_DFL);
        ::signal(SIGQUIT, SIG_DFL);
        dup2(out.write.get(), STDOUT_FILENO);
        dup2(err.write.get(), STDERR_FILENO);
        dup2(input == Input::held_open ? in.read.get() : open("/dev/null", O_RDONLY), STDIN_FILENO);
        for (const std::string& setting : environment)
            putenv(const_cast<char*>(setting.c_str()));
        execvp(words[0], words.data());
        _exit(127);
    }
    setpgid(pid_, pid_);
    if (input == Input::held_open)
        in_ = std::move(in.write);
    out_ = std::move(out.read);
    err_ = std::move(err.read);
}

Process::~Process() {
    if (pid_ > 0) {
        if (in_) {
            in_.reset();
            const auto time_limit = Clock::now() + std::chrono::seconds(8);
            while (read_some(time_limit)) {
            }
        }
        kill(-pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
}

void Process::signal(int number) const {
    kill(pid_, number);
}

bool Process::read_some(Clock::time_point deadline) {
    if (!out_ && !err_)
        return false;
    std::array<pollfd, 2> fds{{{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 || poll(fds.data(), fds.size(), static_cast<int>(left)) <= 0)
        return false;
    if (fds[0].revents != 0)
        drain(out_, outcome_.out);
    if (fds[1].revents != 0)
        drain(err_, outcome_.err);
    return true;
}

bool Process::await(const std::string& text, std::chrono::milliseconds time) {
    const auto deadline = Clock::now() + on_a_busy_machine(time);
    const auto seen = [&] {
        return outcome_.out.find(text) != std::string::npos ||
               outcome_.err.find(text) != std::string::npos;
    };
    while (!seen())
        if (!read_some(deadline))
            return seen();
    return true;
}

Outcome Process::wait(std::chrono::milliseconds time) {
    const auto deadline = Clock::now() + on_a_busy_machine(time);
    while (read_some(deadline)) {
    }
    if (out_ || err_) {
        outcome_.timed_out = true;
        kill(-pid_, SIGKILL);
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    outcome_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome_.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_);
    return outcome_;
}

Outcome run(const Argv& argv, const Argv& environment, std::chrono::milliseconds time) {
    return Process(argv, environment).wait(time);
}

}  // namespace support

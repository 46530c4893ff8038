#include "tools/rocetrace/launch.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "rocetrace/tracelog/contact.hpp"
#include "tools/rocetrace/target.hpp"
#include "util/check.hpp"

namespace rocetrace {
namespace {

sigset_t passed_on() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal :
         {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCHLD})
        sigaddset(&set, signal);
    return set;
}

// Inserts the library before those that the variable names already.
void put_first(const char* variable, const std::string& library) {
    const char* present = std::getenv(variable);
    const std::string value =
        present == nullptr || *present == '\0' ? library : library + ":" + present;
    setenv(variable, value.c_str(), 1);
}

// Sets the user's variables first, so that rocetrace's libraries come before those they name.
void prepare(const Environment& environment) {
    for (const std::string& variable : environment.variables) {
        const std::size_t equals = variable.find('=');
        setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    }
    put_first("LD_PRELOAD", environment.library);
    if (!environment.audit.empty())
        put_first("LD_AUDIT", environment.audit);
    setenv(tracelog::socket_variable, environment.socket.c_str(), 1);
    if (!environment.only.empty())
        setenv(tracelog::only_variable, environment.only.c_str(), 1);
    if (!environment.buffer.empty())
        setenv(tracelog::buffer_variable, environment.buffer.c_str(), 1);
}

[[noreturn]] void become(const std::vector<std::string>& command, const Environment& environment,
                         const sigset_t& mask, int report) {
    prepare(environment);
    for (const ProgramOutput& output : environment.outputs)
        dup2(output.write_end(), output.stream());
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (const std::string& word : command)
        words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words.front(), words.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t told = write(report, &error, sizeof error);
    _exit(127);
}

bool is_variable(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || (word[0] >= '0' && word[0] <= '9'))
        return false;
    return std::ranges::all_of(word.substr(0, equals), [](char letter) {
        return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
               (letter >= '0' && letter <= '9') || letter == '_';
    });
}

}  // namespace

std::vector<std::string> take_variables(std::vector<std::string>& command) {
    const auto program = std::ranges::find_if_not(command, is_variable);
    std::vector<std::string> variables(command.begin(), program);
    command.erase(command.begin(), program);
    return variables;
}

Child::Child(const std::vector<std::string>& command, const Environment& environment) {
    int ends[2] = {-1, -1};
    CHECK_ERRNO(pipe2(ends, O_CLOEXEC));
    const util::Fd read_end(ends[0]);
    util::Fd write_end(ends[1]);
    const sigset_t set = passed_on();
    sigprocmask(SIG_BLOCK, &set, &before_);
    signals_ = util::Fd(CHECK_ERRNO(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)));
    pid_ = CHECK_ERRNO(fork());
    if (pid_ == 0)
        become(command, environment, before_, write_end.get());
    write_end.reset();
    int error = 0;
    ssize_t got = 0;
    do
        got = read(read_end.get(), &error, sizeof error);
    while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(sizeof error))
        return;
    waitpid(pid_, nullptr, 0);
    // execvp(3) also returns EACCES for a missing program if it cannot search a directory of PATH.
    const std::string& name = command.front();
    if (error == EACCES && name.find('/') == std::string::npos && find_program(name).empty())
        error = ENOENT;
    throw StartError{fmt::format("cannot run {}: {}", name, std::strerror(error)),
                     error == ENOENT ? 127 : 126};
}

void Child::take_signals() {
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const auto number = static_cast<int>(info.ssi_signo);
        const bool from_kernel = info.ssi_code == SI_KERNEL;
        if (number == SIGCHLD)
            continue;
        if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT)
            was_told_to_end_ = true;
        if (has_ended_)
            is_asked_to_end_ = true;
        else if (!from_kernel && info.ssi_pid != static_cast<std::uint32_t>(pid_))
            kill(pid_, number);
    }
    reap();
}

void Child::reap() {
    if (!has_ended_ && waitpid(pid_, &status_, WNOHANG) == pid_)
        has_ended_ = true;
}

// It may have ended after take_signals().
std::optional<int> Child::status_of(pid_t pid) {
    if (pid != pid_)
        return std::nullopt;
    reap();
    return has_ended_ ? std::optional(status_) : std::nullopt;
}

void Child::accept_signals() {
    take_signals();
    sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void Child::end_like_it(int otherwise) const {
    if (WIFSIGNALED(status_)) {
        const int number = WTERMSIG(status_);
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);  // the child has dumped its own core
        std::signal(number, SIG_DFL);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, number);
        sigprocmask(SIG_UNBLOCK, &set, nullptr);
        raise(number);
    }
    const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
    std::exit(code != 0 ? code : otherwise);
}

}  // namespace rocetrace

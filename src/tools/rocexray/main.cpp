// rocexray: the steps of the Soft-RoCE driver as a run log.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runlog/event.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "util/output_file.hpp"
#include "util/printable.hpp"
#include "util/similar.hpp"
#include "util/stop_signal.hpp"
#include "util/version.hpp"
#include "xray/layout.hpp"
#include "xray/probes.hpp"
#include "xray/steps.hpp"
#include "xray/trace.hpp"

namespace rocexray {
namespace {

enum ExitCode : int { done = 0, failed = 1, wrong_usage = 2 };

constexpr const char* footer =
    R"(It ends with the program, or by SIGINT or SIGTERM. docs/run-log.md lists the steps (event driver).

Examples:
  rocexray -o client-driver.jsonl --role client -- build/examples/06_verbs_tcp_exchange/client SERVER
  rocexray -o nvme.jsonl -- dd if=/dev/nvme0n1 of=/dev/null bs=4096 count=1 iflag=direct
  rocexray --list

Exit status: that of the program, or 0; 1: the steps cannot be traced; 2: wrong usage.)";

struct Options {
    std::string output = "-";
    std::string role = "driver";
    bool list = false;
    std::vector<std::string> command;
};

std::int64_t ns_of(clockid_t clock) {
    constexpr std::int64_t ns_per_s = 1'000'000'000;
    timespec now{};
    clock_gettime(clock, &now);
    return now.tv_sec * ns_per_s + now.tv_nsec;
}

// Whole lines to a descriptor. Its errors end the program.
class Output {
  public:
    explicit Output(const std::string& path) {
        if (path != "-")
            file_ = util::open_output(path).fd;
        if (file_ && ftruncate(file_.get(), 0) != 0 && errno != EINVAL)
            throw util::Error(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
    }

    void add(const runlog::Event& event) { text_.append(runlog::to_json(event)).push_back('\n'); }

    void flush() {
        const int fd = file_ ? file_.get() : STDOUT_FILENO;
        for (std::size_t at = 0; at < text_.size();) {
            const ssize_t wrote = ::write(fd, text_.data() + at, text_.size() - at);
            if (wrote >= 0) {
                at += static_cast<std::size_t>(wrote);
            } else if (errno == EAGAIN) {
                pollfd ready{fd, POLLOUT, 0};
                poll(&ready, 1, -1);
            } else if (errno != EINTR) {
                throw util::Error(fmt::format("cannot write the log: {}", std::strerror(errno)));
            }
        }
        text_.clear();
    }

  private:
    util::Fd file_;
    std::string text_;
};

// A program that is started beside the trace.
class Program {
  public:
    explicit Program(const std::vector<std::string>& command) {
        pid_ = CHECK_ERRNO(fork());
        if (pid_ == 0)
            become(command);
        ended_ = util::Fd(CHECK_ERRNO(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0))));
    }

    int ended_fd() const { return ended_.get(); }
    void end() const { kill(pid_, SIGTERM); }
    int exit_code() {
        constexpr int of_signal = 128;
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : of_signal + WTERMSIG(status);
    }

  private:
    [[noreturn]] static void become(const std::vector<std::string>& command) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        std::vector<char*> words;
        words.reserve(command.size() + 1);
        for (const std::string& word : command)
            words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        execvp(words.front(), words.data());
        constexpr int not_found = 127;
        util::complain("rocexray",
                       fmt::format("cannot run {}: {}", command.front(), std::strerror(errno)));
        _exit(not_found);
    }

    pid_t pid_ = 0;
    util::Fd ended_;
};

class Tracing {
  public:
    explicit Tracing(const Options& options)
        : output_(options.output),
          steps_(options.role, [this](const runlog::Event& event) { output_.add(event); }),
          role_(options.role) {
        std::vector<std::string_view> missing;
        for (const xray::Probe& probe : xray::probes_of(xray::Layout::of_module("rdma_rxe")))
            if (!trace_.add(probe))
                missing.push_back(probe.step);
        if (!missing.empty())
            util::print_error(
                fmt::format("rocexray: this kernel's driver has no function for: {}\n",
                            fmt::join(missing, ", ")));
    }

    // Returns the program's exit status, or 0.
    int run(const std::vector<std::string>& command, util::StopSignal& stop) {
        trace_.start();
        util::print_error("rocexray: ready\n");
        std::optional<Program> program;
        if (!command.empty())
            program.emplace(command);
        const int ended = program ? program->ended_fd() : -1;
        bool is_told = false;
        for (bool goes_on = true; goes_on;) {
            // Not at each step: on a host with one CPU, this would take it from the traced programs.
            constexpr int pause_ms = 250;
            pollfd all[]{{ended, POLLIN, 0}, {is_told ? -1 : stop.fd(), POLLIN, 0}};
            poll(all, std::size(all), pause_ms);
            take();
            if (all[1].revents != 0) {
                is_told = true;
                if (program)
                    program->end();
            }
            goes_on = program ? all[0].revents == 0 : !is_told;
        }
        trace_.stop();
        take();
        steps_.finish();
        if (const std::uint64_t missed = trace_.missed(); missed != 0)
            add_lost(missed);
        output_.flush();
        util::print_error(fmt::format("rocexray: {} steps{}\n", steps_.written(),
                                      lost_ == 0 ? "" : fmt::format(", {} lost", lost_)));
        return program ? program->exit_code() : done;
    }

  private:
    void take() {
        const std::int64_t offset = ns_of(CLOCK_REALTIME) - ns_of(CLOCK_MONOTONIC);
        for (std::string_view got = trace_.read(); !got.empty(); got = trace_.read()) {
            rest_.append(got);
            std::size_t begin = 0;
            for (std::size_t end = rest_.find('\n'); end != std::string::npos;
                 begin = end + 1, end = rest_.find('\n', begin))
                take_line(std::string_view(rest_).substr(begin, end - begin), offset);
            rest_.erase(0, begin);
        }
        output_.flush();
    }

    void take_line(std::string_view line, std::int64_t offset) {
        if (const auto step = xray::TraceLine::of(line)) {
            steps_.take(*step, offset);
        } else if (const std::uint64_t lost = xray::TraceLine::lost(line); lost != 0) {
            add_lost(lost);
        }
    }

    void add_lost(std::uint64_t steps) {
        lost_ += steps;
        output_.add({ns_of(CLOCK_REALTIME),
                     role_,
                     "driver",
                     {{runlog::key::step, std::string("lost")}, {runlog::key::records, steps}}});
    }

    Output output_;
    xray::Trace trace_;
    xray::Steps steps_;
    std::string role_, rest_;
    std::uint64_t lost_ = 0;
};

int list() {
    for (const xray::Probe& probe : xray::probes_of(xray::Layout::of_module("rdma_rxe")))
        fmt::print("{:<10} {}\n", probe.step, fmt::join(probe.functions, " or "));
    return done;
}

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Logs the steps of the Soft-RoCE driver: requester, packets, timers, completions.",
                 "rocexray");
    app.add_option(
           "-o,--output", options.output,
           "Write the run log to this file (JSON lines);\n'-', the default: standard output")
        ->type_name("FILE");
    app.add_option("--role", options.role, "The name of this host in the log. Default: driver")
        ->type_name("NAME");
    app.add_flag("--list", options.list, "List the steps and the driver's functions");
    app.add_option("command", options.command, "A program to run meanwhile")
        ->type_name("-- PROGRAM [ARGUMENT...]");
    app.set_version_flag("--version", fmt::format("rocexray {}", util::version));
    app.positionals_at_end();
    app.footer(footer);
    app.get_formatter()->column_width(30);
    std::signal(SIGPIPE, SIG_IGN);
    try {
        app.parse(argc, argv);
        if (options.list)
            return list();
        util::StopSignal stop;
        return Tracing(options).run(options.command, stop);
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        util::complain("rocexray", util::usage_error(app, error));
        std::fputs("'rocexray --help' lists the options.\n", stderr);
        return wrong_usage;
    } catch (const std::exception& error) {
        util::complain("rocexray", error.what());
        return failed;
    }
}

}  // namespace
}  // namespace rocexray

int main(int argc, char** argv) {
    return rocexray::main(argc, argv);
}

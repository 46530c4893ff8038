// rocetrace: runs a program and logs its verbs calls.
#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "render/explain_text.hpp"
#include "rocetrace/tracelog/record.hpp"
#include "rocetrace/tracelog/summary.hpp"
#include "runlog/tail.hpp"
#include "tools/rocetrace/collect.hpp"
#include "tools/rocetrace/collector.hpp"
#include "tools/rocetrace/launch.hpp"
#include "tools/rocetrace/target.hpp"
#include "trace/explain/explainer.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"
#include "util/similar.hpp"
#include "util/version.hpp"

namespace rocetrace {
namespace {

// As for env(1) and timeout(1); other numbers are the program's.
enum ExitCode : int { done = 0, found = 1, wrong_usage = 2, failed = 125 };

constexpr const char* footer =
    R"(The run log has one event for each verbs call (docs/run-log.md). rocecap joins it with a capture:
  sudo rocecap live -i IFACE -w wire.pcapng
  rocetrace -o client.jsonl --role client -- ib_write_bw SERVER
Categories: device pd mr cq srq qp ah cm send recv wc event.
Exit status: the program's; 125 if rocetrace fails; 126 or 127 if the program cannot be started.
With --explain LOG.jsonl...: 1 if something failed.)";

constexpr std::array<std::pair<std::string_view, tracelog::Category>, 12> categories{{
    {"device", tracelog::Category::device},
    {"pd", tracelog::Category::pd},
    {"mr", tracelog::Category::mr},
    {"cq", tracelog::Category::cq},
    {"srq", tracelog::Category::srq},
    {"qp", tracelog::Category::qp},
    {"ah", tracelog::Category::ah},
    {"cm", tracelog::Category::cm},
    {"send", tracelog::Category::send},
    {"recv", tracelog::Category::recv},
    {"wc", tracelog::Category::wc},
    {"event", tracelog::Category::event},
}};

struct Options {
    std::string output;
    std::string role;
    std::vector<std::string> only;
    std::uint32_t buffer = 16;
    bool mask_psns = false;
    bool text = false;
    bool no_audit = false;
    bool summary = false;
    bool explain = false;
    std::vector<std::string> command;
};

// Whether it is, or can become, a file that can be read again: not a device, a FIFO or "-".
bool is_file(const std::string& path) {
    std::error_code ignored;
    return path != "-" && (!std::filesystem::exists(path, ignored) ||
                           std::filesystem::is_regular_file(path, ignored));
}

std::uint32_t mask_of(const std::vector<std::string>& names) {
    std::uint32_t mask = 0;
    for (const std::string& name : names) {
        const auto it =
            std::ranges::find(categories, name, [](const auto& row) { return row.first; });
        if (it == categories.end())
            throw CLI::ValidationError(
                fmt::format("--only: there is no category '{}'; choose from device, pd, mr, "
                            "cq, srq, qp, ah, cm, send, recv, wc and event",
                            name));
        mask |= static_cast<std::uint32_t>(it->second);
    }
    return mask;
}

// Next to the program, as in the build, or where make install puts it.
std::string library(const std::string& name) {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    for (const auto& candidate : {folder / name, folder / "../lib/rocetrace" / name})
        if (std::filesystem::exists(candidate))
            return std::filesystem::canonical(candidate).string();
    throw util::Error(fmt::format("{} is neither in {} nor in {}: build or install it again", name,
                                  folder.string(), (folder / "../lib/rocetrace").string()));
}

std::string base_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

template <typename Each>
void for_each_event(const std::vector<std::string>& logs, Each each) {
    for (const std::string& log : logs) {
        runlog::Tail tail(log);
        while (const auto event = tail.next())
            each(*event);
    }
}

void check_logs(const std::vector<std::string>& logs) {
    for (const std::string& log : logs)
        if (!std::filesystem::exists(log))
            throw util::Error(fmt::format("the run log {} does not exist", log));
}

// Returns whether something failed.
bool print_explanation(const std::vector<std::string>& logs, FILE* to) {
    check_logs(logs);
    explain::Explainer explainer;
    for_each_event(logs, [&](const runlog::Event& event) { explainer.learn(event); });
    const render::ExplainContext context{.logs = logs.size()};
    const explain::Explanation explanation = explainer.explanation();
    std::fputs(render::explain_text(explanation, context, util::TextStyle()).c_str(), to);
    return explanation.has_failed;
}

void print_summary(const std::vector<std::string>& logs, FILE* to) {
    check_logs(logs);
    tracelog::Summary summary;
    // Requests of one log refer to memory of another.
    for_each_event(logs, [&](const runlog::Event& event) { summary.add_memory(event); });
    for_each_event(logs, [&](const runlog::Event& event) { summary.add(event); });
    std::fputs(summary.text().c_str(), to);
}

// A log whose name the user did not choose does not stay if nothing was logged.
class UnusedLog {
  public:
    explicit UnusedLog(std::string path) : path_(std::move(path)) {}
    ~UnusedLog() { remove(); }
    UnusedLog(const UnusedLog&) = delete;
    UnusedLog& operator=(const UnusedLog&) = delete;
    UnusedLog(UnusedLog&&) = delete;
    UnusedLog& operator=(UnusedLog&&) = delete;

    void remove() const {
        std::error_code ignored;
        if (!path_.empty() && std::filesystem::is_regular_file(path_, ignored) &&
            std::filesystem::file_size(path_, ignored) == 0)
            std::filesystem::remove(path_, ignored);
    }

  private:
    std::string path_;
};

// Whether the arguments are logs, as in: rocetrace --summary server.jsonl client.jsonl
bool names_logs(const std::vector<std::string>& words) {
    return std::ranges::all_of(words, [](const std::string& word) {
        return word.ends_with(".jsonl") && std::filesystem::is_regular_file(word);
    });
}

int run(Options options) {
    const bool reads_logs = options.summary || options.explain;
    if (reads_logs && names_logs(options.command)) {
        if (options.summary)
            print_summary(options.command, stdout);
        return options.explain && print_explanation(options.command, stdout) ? found : done;
    }
    if (reads_logs && !options.output.empty() && !is_file(options.output))
        throw util::Error(fmt::format(
            "--summary and --explain read the log when the program has ended: -o must be a file, "
            "not {}",
            util::printable(options.output)));
    Environment environment;
    environment.variables = take_variables(options.command);
    if (options.command.empty())
        throw util::Error(
            fmt::format("no program was given after {}", environment.variables.back()));
    const std::string& program = options.command.front();
    const std::string path = find_program(program);
    if (!path.empty())
        if (const auto reason = why_invisible(path))
            util::complain("rocetrace", fmt::format("no verbs call will be logged: {}", *reason));
    environment.library = library("librocetrace.so");
    if (!options.no_audit)
        environment.audit = library("librocetrace-audit.so");
    if (!options.only.empty())
        environment.only = std::to_string(mask_of(options.only));
    environment.buffer = std::to_string(options.buffer);
    const std::string output = options.output.empty()
                                   ? fmt::format("{}.{}.jsonl", base_name(program), getpid())
                                   : options.output;
    const std::string role = options.role.empty() ? base_name(program) : options.role;
    const UnusedLog unused(options.output.empty() ? output : "");
    std::optional<Collector> collector(std::in_place, output, role, options.mask_psns);
    environment.socket = collector->socket_path();
    if (options.text) {
        collector->print_text();
        environment.outputs.emplace_back(STDOUT_FILENO);
        environment.outputs.emplace_back(STDERR_FILENO);
    }
    Child child(options.command, environment);
    for (ProgramOutput& stream : environment.outputs)
        stream.close_write_end();
    collector->log().while_waiting(child.signals(), [&] {
        child.take_signals();
        return !child.has_been_ended();
    });
    collect(*collector, child, environment.outputs, role);
    tell_result(*collector, program);
    child.accept_signals();
    if (options.summary)
        print_summary({output}, stderr);
    if (options.explain)
        print_explanation({output}, stderr);
    const bool complete = collector->log().error().empty();
    collector.reset();  // end_like_it() ends the process without destructors
    unused.remove();
    child.end_like_it(complete ? done : failed);
}

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Runs a program and logs every verbs and rdma_cm call that it makes.",
                 "rocetrace");
    app.add_option("-o,--output", options.output,
                   "Write the run log to this file (JSON lines);\n'-': standard output. Default: "
                   "PROGRAM.PID.jsonl")
        ->type_name("FILE");
    app.add_option("--role", options.role, "The name of this end in the log. Default: PROGRAM")
        ->type_name("NAME");
    app.add_flag("--mask-psn", options.mask_psns,
                 "Write no PSNs to the log, only distances from the first");
    app.add_flag("--text", options.text,
                 "Print each event as a line of text to standard error,\nand log what the program "
                 "prints as notes and errors");
    app.add_option("--only", options.only, "Log only these categories")
        ->delimiter(',')
        ->type_name("CATEGORIES");
    app.add_option("--buffer", options.buffer,
                   "Size of the buffer of each thread, in MiB (default: 16)")
        ->check(CLI::Range(1U, 1024U))
        ->type_name("MIB");
    app.add_flag("--summary", options.summary,
                 "Print a summary of each queue pair at the end; with\nLOG.jsonl... instead of a "
                 "program: of these logs");
    app.add_flag("--explain", options.explain,
                 "Print the cause of a failure at the end; with\nLOG.jsonl... instead of a "
                 "program: of these logs");
    app.add_flag("--no-audit", options.no_audit,
                 "Do not load the LD_AUDIT library, which traces functions\nfound by dlsym()");
    app.add_option("command", options.command,
                   "The program and its arguments; environment variables\nfor it may precede it")
        ->required()
        ->type_name("-- [NAME=VALUE...] PROGRAM [ARGUMENT...]");
    app.set_version_flag("--version", fmt::format("rocetrace {}", util::version));
    app.positionals_at_end();
    app.footer(footer);
    app.get_formatter()->column_width(30);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // write() reports a file size limit (ulimit -f)
    try {
        app.parse(argc, argv);
        return run(options);
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        util::complain("rocetrace", util::usage_error(app, error));
        std::fputs("'rocetrace --help' lists the options.\n", stderr);
        return wrong_usage;
    } catch (const StartError& error) {
        util::complain("rocetrace", error.text);
        return error.exit_code;
    } catch (const std::exception& error) {
        util::complain("rocetrace", error.what());
        return failed;
    }
}

}  // namespace
}  // namespace rocetrace

int main(int argc, char** argv) {
    return rocetrace::main(argc, argv);
}

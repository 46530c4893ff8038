// What the subcommands of rocecap share. Each subcommand has its own file: it adds itself to the
// command line and sets `Context::run`.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>

namespace rocecap {

/// Exit codes: nothing to report; the command found what it reports, such as a malformed packet, a
/// deviation or a failed connection; it cannot run, or its capture was not read to the end.
enum ExitCode : int { fine = 0, found = 1, failed = 2 };

struct Context {
    /// Whether standard output gets colours; set before `run` is called.
    bool colour = false;
    /// The terminal's width; 0 if standard output is not a terminal.
    std::size_t columns = 0;
    /// Runs the chosen subcommand and returns the exit code. Throws util::Error with a sentence for
    /// the user, which main prints.
    std::function<int()> run;
};

/// Adds a subcommand to the command line. If it is chosen, run(options, context) is called with the
/// returned options.
template <typename Options, typename Run>
std::pair<CLI::App*, Options*> add_command(CLI::App& app, Context& context, const char* name,
                                           const char* help, const char* footer, Run run) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(name, help);
    command->footer(footer);
    command->callback([&context, options, run] {
        context.run = [&context, options, run] { return run(*options, context); };
    });
    return {command, options.get()};
}

void add_anonymize(CLI::App& app, Context& context);
void add_annotate(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_explain(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_decode(CLI::App& app, Context& context);
void add_fields(CLI::App& app, Context& context);
void add_flows(CLI::App& app, Context& context);
void add_live(CLI::App& app, Context& context);
void add_predict(CLI::App& app, Context& context);
void add_psns(CLI::App& app, Context& context);
void add_simulate(CLI::App& app, Context& context);
void add_timeline(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);

}  // namespace rocecap

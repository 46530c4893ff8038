// rocecap: decodes packets of RoCE and InfiniBand, live or from a capture file, for people and for
// programs.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "capture/pcap_handle.hpp"
#include "capture/sink.hpp"
#include "filter/where.hpp"
#include "tools/rocecap/command.hpp"
#include "util/printable.hpp"
#include "util/sandbox.hpp"
#include "util/similar.hpp"
#include "util/version.hpp"

namespace rocecap {
namespace {

constexpr const char* main_footer = R"(Examples:
  sudo rocecap live -i eth0                       print RoCE packets as they arrive
  sudo rocecap live -i eth0 -w run.pcapng         the same, and write them to a file
  rocecap decode run.pcapng                       print a capture, one line per packet
  rocecap decode run.pcapng --json | jq .bth.psn  print it as JSON
  rocecap decode run.pcapng --where 'aeth.type == NAK'
  rocecap flows run.pcapng                        conversations: PSNs, losses, latencies
  rocecap verify run.pcapng                       check each packet's ICRC
  rocecap check captures/runs/2026...             check both ends against the specification
  rocecap explain captures/runs/2026...           name the cause of a failure
  rocecap timeline run.pcapng --log app.jsonl     the packets and the verbs calls that caused them
  rocecap timeline captures/runs/2026...          the same for a run of the lab
  rocecap predict captures/runs/2026...           a quiz: predict the next packet
  rocecap psns run.pcapng                         first PSNs, and the packets that reveal them
  rocecap anonymize run.pcapng public.pcapng      a copy for a public bug report
'rocecap COMMAND --help' lists the options of a command.

Exit status: 0 nothing of what follows, 2 rocecap cannot run, or the capture is damaged or ends too
early (the part before that is printed), and 1:
  decode, live, flows  a malformed packet
  verify               a bad ICRC, a malformed packet, or no ICRC to check
  check                a deviation from the specification
  explain              something failed
  other commands       never)";

// A file or socket opened later would get the number of a closed standard descriptor, and then the
// output written to it. Opens /dev/null there for the wrong direction instead, so that use fails.
void fill_standard_descriptors() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(fd, F_GETFD) == -1)
            static_cast<void>(open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

// https://no-color.org: any non-empty value counts.
bool wants_colour(const std::string& choice) {
    if (choice != "auto")
        return choice == "always";
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
           (term == nullptr || std::string_view(term) != "dumb");
}

std::size_t terminal_columns() {
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

int main(int argc, char** argv) {
    fill_standard_descriptors();
    Context context;
    std::string colour = "auto";
    CLI::App app(
        "Captures and decodes RoCE packets: RDMA over Converged Ethernet, v2 and v1. Also reads "
        "captures of native InfiniBand.",
        "rocecap");
    app.set_version_flag("--version", [] {
        return fmt::format("rocecap {}, {}", util::version, capture::library_version());
    });
    app.add_option("--color", colour, "Colours: auto (on a terminal), always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
        ->type_name("WHEN");
    app.require_subcommand(1);
    app.fallthrough();
    app.footer(main_footer);
    app.get_formatter()->column_width(30);
    for (const auto add : {add_live, add_decode, add_flows, add_verify, add_check, add_explain,
                           add_fields, add_timeline, add_predict, add_simulate, add_psns,
                           add_annotate, add_anonymize, add_report})
        add(app, context);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        // CLI11 reports a misspelt command as a missing one.
        const bool is_misspelt = error.get_name() == "RequiredError" && argc > 1 &&
                                 app.get_subcommands().empty() && argv[1][0] != '-';
        util::complain("rocecap", is_misspelt
                                      ? fmt::format("there is no command '{}': choose {}", argv[1],
                                                    fmt::join(names_of_commands(app), ", "))
                                      : util::usage_error(app, error));
        std::fputs(
            "'rocecap --help' lists the commands, and 'rocecap COMMAND --help' its options.\n",
            stderr);
        return failed;
    }
    context.colour = wants_colour(colour);
    context.columns = terminal_columns();
    // If the reader closes its end, write() fails, and Sink recognizes the error.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // write() reports a file size limit (ulimit -f)
    try {
        // live needs root privileges first.
        if (app.get_subcommands().front()->get_name() != "live")
            util::enter_sandbox();
        return context.run();
    } catch (const capture::ReaderGone&) {
        return fine;
    } catch (const filter::SyntaxError& error) {
        util::complain("rocecap", error.what());
        util::print_error(error.marked());
        return failed;
    } catch (const std::exception& error) {
        util::complain("rocecap", error.what());
        return failed;
    }
}

}  // namespace
}  // namespace rocecap

int main(int argc, char** argv) {
    return rocecap::main(argc, argv);
}

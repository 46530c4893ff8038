// rocewire: the link between the lab's machines.
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "emulator/control.hpp"
#include "emulator/rule.hpp"
#include "emulator/switch.hpp"
#include "tools/rocewire/listing.hpp"
#include "util/error.hpp"
#include "util/json.hpp"
#include "util/printable.hpp"
#include "util/similar.hpp"
#include "util/version.hpp"

namespace rocewire {
namespace {

using util::Json;

enum ExitCode : int { done = 0, failed = 1, wrong_usage = 2 };

constexpr const char* footer =
    R"(A rule is an action and the packets to which it applies:
  drop the 3rd packet from client where bth.opcode_name contains "WRITE"
  drop packets 4 to 6 from client where reth or payload_len > 0
  duplicate the 1st packet where aeth.type == ACK
  delay 20ms every 10th packet to server
  reorder by 2 the 5th packet from client
  corrupt byte 20 the 2nd packet from server
  set bth.psn to 0x123456 the 2nd packet from client
  mark 10% of packets from client seed 7
  cut for 200ms at the 8th packet from client
  limit to 10Mbit/s queue 32 packets from client
"packets" alone means all packets. docs/rocewire.md explains each rule. A rule counts the packets that
match it, starting from 1 when the rule is added and again when a recording starts.)";

struct Options {
    std::string control;
    std::vector<std::string> ports;
    std::vector<std::string> rules;
    std::string file;
    std::string capture;
    std::string log;
    std::uint32_t number = 0;
    bool watch = false;
    bool json = false;
};

std::vector<emulator::Port> ports_of(const std::vector<std::string>& words) {
    std::vector<emulator::Port> ports;
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        if (equals == 0 || equals == std::string::npos || equals + 1 == word.size())
            throw util::Error(
                fmt::format("--port is HOST=SOCKET, like server=/tmp/server.sock, not '{}'", word));
        for (const emulator::Port& port : ports)
            if (port.name() == word.substr(0, equals))
                throw util::Error(fmt::format("two ports have the name {}", port.name()));
        ports.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    return ports;
}

std::string absolute(const std::string& path) {
    return path.empty() ? path : std::filesystem::absolute(path).string();
}

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf()))
        throw util::Error(fmt::format("{} cannot be read", path));
    return text.str();
}

// Rules from the command line, one per argument, and from the file, one per line.
std::vector<std::string> rules_of(const Options& options, const std::vector<std::string>& hosts) {
    std::vector<std::string> rules = options.rules;
    if (!options.file.empty())
        try {
            for (const emulator::Rule& rule : emulator::parse_rules(read_file(options.file), hosts))
                rules.push_back(rule.text);
        } catch (const util::Error& error) {
            throw util::Error(fmt::format("{}: {}", options.file, error.what()));
        }
    return rules;
}

int run(const Options& options) {
    util::StopSignal stop;
    const auto say = [](const std::string& text) {
        util::print_error(fmt::format("rocewire: {}\n", util::printable(text)));
    };
    emulator::Switch wire(ports_of(options.ports), say);
    for (const std::string& text : rules_of(options, wire.stage().hosts()))
        wire.stage().add(emulator::parse_rule(text, wire.stage().hosts()));
    if (!options.capture.empty() || !options.log.empty())
        wire.recorder().start(options.capture.empty() ? "/dev/null" : options.capture, options.log);
    std::optional<emulator::Control> control;
    if (!options.control.empty())
        control.emplace(options.control, wire);
    say(fmt::format("ready: {} hosts, {} rules", wire.ports().size(), wire.stage().rules().size()));
    wire.run(stop);
    return done;
}

Json ask(const Options& options, const Json& request) {
    if (options.control.empty())
        throw util::Error("no control socket: give --control SOCKET");
    Json answer = Json::parse(emulator::ask(options.control, request.dump()));
    if (answer.at("ok") == true)
        return answer;
    if (answer.contains("marked")) {
        util::complain("rocewire", answer.at("error").get<std::string>());
        util::print_error(answer.at("marked").get<std::string>());
        throw CLI::RuntimeError(failed);
    }
    throw util::Error(answer.at("error").get<std::string>());
}

std::vector<std::string> hosts_of(const Json& status) {
    std::vector<std::string> hosts;
    for (const Json& host : status.at("hosts"))
        hosts.push_back(host.at("name").get<std::string>());
    return hosts;
}

int add(const Options& options) {
    const Json status = ask(options, {{"do", "status"}});
    const Json rules = rules_of(options, hosts_of(status));
    if (rules.empty())
        throw util::Error("no rule was given: rocewire --help prints examples");
    const Json answer = ask(options, {{"do", "add"}, {"rules", rules}});
    for (std::size_t i = 0; i < rules.size(); ++i)
        fmt::print("rule {}: {}\n", answer.at("added")[i].get<std::uint32_t>(),
                   util::printable(rules[i].get<std::string>()));
    return done;
}

int status(const Options& options) {
    Json last;
    do {
        const Json now = ask(options, {{"do", "status"}});
        if (options.json)
            fmt::print("{}\n", util::printable(now.dump()));
        else
            fmt::print("{}{}", options.watch ? "\x1b[H\x1b[2J" : "", listing(now, last));
        std::fflush(stdout);
        last = now;
        if (options.watch)
            std::this_thread::sleep_for(std::chrono::seconds(1));
    } while (options.watch);
    return done;
}

int simple(const Options& options, const Json& request, const std::string& said) {
    const Json answer = ask(options, request);
    if (answer.contains("frames"))
        fmt::print("{} frames recorded\n", answer.at("frames").get<std::uint64_t>());
    else if (!said.empty())
        fmt::print("{}\n", said);
    return done;
}

void add_rules(CLI::App* command, Options& options) {
    command->add_option("rules", options.rules, "Rules; quote each one for the shell")
        ->type_name("RULE");
    command->add_option("-f,--file", options.file, "Also add the rules in this file, one per line")
        ->type_name("FILE");
}

using Work = std::function<int()>;

void add_commands(CLI::App& app, Options& options, Work& work) {
    auto* run_command = app.add_subcommand("run", "Run the link emulator until it is stopped");
    run_command
        ->add_option("-p,--port", options.ports,
                     "The name of a host, and the socket of its QEMU\n(a path, or "
                     "tcp:127.0.0.1:PORT)")
        ->required()
        ->allow_extra_args(false)
        ->type_name("HOST=SOCKET");
    add_rules(run_command, options);
    run_command
        ->add_option("-w,--write", options.capture, "Record the frames on the link in this file")
        ->type_name("PCAPNG");
    run_command->add_option("--log", options.log, "Record the actions of the rules, as JSON lines")
        ->type_name("FILE");
    run_command->callback([&] { work = [&] { return run(options); }; });

    auto* add_command = app.add_subcommand("add", "Add rules");
    add_rules(add_command, options);
    add_command->callback([&] { work = [&] { return add(options); }; });

    auto* remove = app.add_subcommand("remove", "Remove one rule");
    remove->add_option("rule", options.number, "The number of the rule")
        ->required()
        ->type_name("N");
    remove->callback([&] {
        work = [&] {
            return simple(options, {{"do", "remove"}, {"rule", options.number}},
                          fmt::format("rule {} is removed", options.number));
        };
    });
    app.add_subcommand("clear", "Remove all rules")->callback([&] {
        work = [&] { return simple(options, {{"do", "clear"}}, "no rules"); };
    });
    app.add_subcommand("restart", "Restart the packet counters of all rules")->callback([&] {
        work = [&] { return simple(options, {{"do", "restart"}}, "all rules count from 1"); };
    });

    auto* record = app.add_subcommand("record", "Start recording the frames on the link");
    record->add_option("capture", options.capture, "The file to write")
        ->required()
        ->type_name("PCAPNG");
    record->add_option("--log", options.log, "Record the actions of the rules, as JSON lines")
        ->type_name("FILE");
    record->callback([&] {
        work = [&] {
            return simple(options,
                          {{"do", "record"},
                           {"capture", absolute(options.capture)},
                           {"log", absolute(options.log)}},
                          {});
        };
    });
    app.add_subcommand("stop", "Stop recording")->callback([&] {
        work = [&] { return simple(options, {{"do", "stop"}}, {}); };
    });

    auto* status_command =
        app.add_subcommand("status", "Print the hosts, the rules and the counters");
    status_command->add_flag("--watch", options.watch, "Repeat every second");
    status_command->add_flag("--json", options.json, "Print one JSON object");
    status_command->callback([&] { work = [&] { return status(options); }; });

    app.add_subcommand("fields", "List the fields that a rule may set")->callback([&] {
        work = [&] {
            for (const filter::Field* field : emulator::writable_fields())
                fmt::print("{:24} {:2} bits\n", field->name, field->get.place.width);
            return static_cast<int>(done);
        };
    });
}

int main(int argc, char** argv) {
    Options options;
    Work work;
    CLI::App app(
        "Emulates the link between the lab's machines: a switch that can impair chosen packets.",
        "rocewire");
    app.add_option("-c,--control", options.control, "The control socket of the link emulator")
        ->envname("ROCEWIRE_CONTROL")
        ->type_name("SOCKET");
    app.set_version_flag("--version", fmt::format("rocewire {}", util::version));
    app.require_subcommand(1);
    app.fallthrough();
    app.footer(footer);
    app.get_formatter()->column_width(30);
    add_commands(app, options, work);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // write() reports a file size limit (ulimit -f)
    try {
        app.parse(argc, argv);
        return work();
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const CLI::RuntimeError& error) {
        return error.get_exit_code();
    } catch (const CLI::ParseError& error) {
        util::complain("rocewire", util::usage_error(app, error));
        std::fputs(
            "'rocewire --help' lists the commands, and 'rocewire COMMAND --help' its options.\n",
            stderr);
        return wrong_usage;
    } catch (const filter::SyntaxError& error) {
        util::complain("rocewire", error.what());
        util::print_error(error.marked());
        return failed;
    } catch (const std::exception& error) {
        util::complain("rocewire", error.what());
        return failed;
    }
}

}  // namespace
}  // namespace rocewire

int main(int argc, char** argv) {
    return rocewire::main(argc, argv);
}

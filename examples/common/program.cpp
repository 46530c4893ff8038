#include "examples/common/program.hpp"

#include <csignal>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "examples/common/hint.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"
#include "util/similar.hpp"

namespace common {

bool nap(util::StopSignal& stop, util::Deadline deadline) {
    util::wait_readable(stop.fd(), stop, util::deadline_in(std::chrono::milliseconds(1)));
    return !stop.requested() && !util::is_past(deadline);
}

struct CommandLine::Impl {
    std::string role;
    std::string run_log;
    double timeout_s = 0;
    std::chrono::milliseconds* timeout = nullptr;
    const LocalEnd* local = nullptr;
    CLI::App app;
};

CommandLine::CommandLine(std::string role, const std::string& about)
    : impl_(std::make_unique<Impl>()) {
    impl_->role = std::move(role);
    impl_->app.description(about);
    // The last occurrence of an option counts, so a script's defaults can be overridden.
    impl_->app.option_defaults()->take_last();
    impl_->app.get_formatter()->column_width(30);
}

CommandLine::~CommandLine() = default;

void CommandLine::server(std::string& value) {
    impl_->app.add_option("server", value, "The server's address or name, IPv4 or IPv6")
        ->required()
        ->type_name("");
}

void CommandLine::add(ServerOptions& options) {
    add_local(options.local, "--bind", "Listen on this address only (default: all, IPv4 and IPv6)");
    impl_->app.add_option("--port", options.port, "Port to listen on")
        ->check(CLI::Range(1, 65535).description(""))
        ->capture_default_str()
        ->type_name("N");
}

void CommandLine::add(ClientOptions& options) {
    server(options.server);
    impl_->app.add_option("--port", options.port, "Port the server listens on")
        ->check(CLI::Range(1, 65535).description(""))
        ->capture_default_str()
        ->type_name("N");
    add_local(options.local, "--source",
              "Connect from this address (default: chosen by the route)");
    impl_->timeout = &options.timeout;
    impl_->timeout_s = std::chrono::duration<double>(options.timeout).count();
    impl_->app
        .add_option("--timeout", impl_->timeout_s,
                    "Stop if the server does not respond for this long")
        ->check(CLI::Range(0.1, 3600.0).description(""))
        ->capture_default_str()
        ->type_name("SECONDS");
}

void CommandLine::add(SecureOptions& options) {
    const std::string peer = impl_->role == "client" ? "server" : "client";
    options.peer_name = "rdma-" + peer;
    impl_->app
        .add_option("--certs", options.certificates,
                    "Folder with the CA's certificate, and this side's certificate and key")
        ->capture_default_str()
        ->type_name("DIR");
    impl_->app
        .add_option("--" + peer + "-name", options.peer_name,
                    "Name that the " + peer + "'s certificate must have")
        ->capture_default_str()
        ->type_name("NAME");
    impl_->app.add_flag("--show-psn", options.show_psn,
                        "Print PSNs, which are kept secret by default");
    impl_->app
        .add_option("--keylog", options.keylog,
                    "Write the TLS secrets for Wireshark to this file ('-': to the run log).\nFor "
                    "the lab only: anyone who has them can decrypt the exchange")
        ->type_name("FILE");
}

void CommandLine::add_local(LocalEnd& local, const std::string& flag, const std::string& help) {
    impl_->local = &local;
    impl_->app.add_option(flag, local.address, help)->type_name("ADDRESS");
    impl_->app
        .add_option("--device", local.device,
                    "Use this RDMA device's address (00_hello/devices lists them)")
        ->type_name("NAME");
    impl_->app
        .add_option("--gid-index", local.gid_index,
                    "Use the address of this entry of the device's GID table")
        ->type_name("N");
}

void CommandLine::number(const std::string& flag, std::uint64_t& value, std::uint64_t least,
                         std::uint64_t most, const std::string& help) {
    impl_->app.add_option(flag, value, help)
        ->check(CLI::Range(least, most).description(""))
        ->capture_default_str()
        ->type_name("N");
}

void CommandLine::size(const std::string& flag, std::uint64_t& value, std::uint64_t least,
                       std::uint64_t most, const std::string& help) {
    impl_->app.add_option(flag, value, help)
        ->transform(CLI::AsSizeValue(false).description(""))
        ->check(CLI::Range(least, most).description(""))
        ->type_name("SIZE");
}

void CommandLine::path_mtu(std::uint64_t& value, const std::string& help) {
    impl_->app.add_option("--path-mtu", value, help)
        ->check(
            CLI::IsMember(std::vector<std::uint64_t>{256, 512, 1024, 2048, 4096}).description(""))
        ->capture_default_str()
        ->type_name("N");
}

void CommandLine::flag(const std::string& name, bool& value, const std::string& help) {
    impl_->app.add_flag(name, value, help);
}

void CommandLine::text(const std::string& flag, std::string& value, const std::string& help) {
    impl_->app.add_option(flag, value, help)->type_name("TEXT");
}

void CommandLine::complain(std::string_view text) const {
    util::print_error(fmt::format("{}: {}\n", impl_->role, text));
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
    try {
        impl_->app.parse(argc, argv);
    } catch (const CLI::Success& success) {
        return impl_->app.exit(success);
    } catch (const CLI::ParseError& error) {
        std::string what = util::usage_error(impl_->app, error);
        if (what.ends_with('.'))
            what.pop_back();
        complain(fmt::format("{}. --help lists the options.", what));
        return 2;
    }
    return std::nullopt;
}

namespace {

std::string sentence_of(const std::exception& error) {
    const auto* failed_call = dynamic_cast<const std::system_error*>(&error);
    if (failed_call == nullptr)
        return error.what();
    return fmt::format("{} failed: {}.{}", call_of(*failed_call), failed_call->code().message(),
                       hint_for(*failed_call));
}

}  // namespace

void print_failure(std::string_view role, const std::exception& error) {
    util::print_error(fmt::format("{}: {}\n", role, sentence_of(error)));
}

int CommandLine::main_without_log(int argc, char** argv, const std::function<void()>& run) {
    if (const auto exit_code = parse(argc, argv))
        return *exit_code;
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        print_failure(impl_->role, error);
        return 1;
    }
}

int CommandLine::main(int argc, char** argv, const Run& run) {
    impl_->app
        .add_option("--run-log", impl_->run_log,
                    "Also write each event as a JSON line to this file;\n'-': to standard output, "
                    "the text to "
                    "standard error")
        ->type_name("FILE");
    if (const auto exit_code = parse(argc, argv))
        return *exit_code;
    if (impl_->local != nullptr && !impl_->local->address.empty() &&
        (!impl_->local->device.empty() || impl_->local->gid_index)) {
        complain(
            "an address cannot be combined with --device or --gid-index, which also choose the "
            "address: give one of them.");
        return 2;
    }
    if (impl_->timeout != nullptr)
        *impl_->timeout =
            std::chrono::milliseconds(static_cast<std::int64_t>(impl_->timeout_s * 1000));
    std::signal(SIGXFSZ, SIG_IGN);  // exceeding ulimit -f makes write() fail instead
    try {
        util::StopSignal stop;
        runlog::Log log(impl_->role, impl_->run_log);
        try {
            return run(log, stop);
        } catch (const std::exception& error) {
            log.error(sentence_of(error));
        }
    } catch (const std::exception& error) {
        complain(error.what());  // the run log itself could not be written
    }
    return 1;
}

}  // namespace common

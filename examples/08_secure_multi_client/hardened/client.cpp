// Lesson 08, hardened, the client: one client, or many independent ones in one process. Each phase ends for all
// clients before the next one begins.
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "crowd.hpp"
#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "one_client.hpp"
#include "util/limits.hpp"

namespace {

using lesson08::OneClient;

struct Options {
    common::ClientOptions client;
    common::SecureOptions secure;
    std::uint64_t clients = 3;
    std::uint64_t at_once = 32;
    std::uint64_t operations = 1;
    std::uint64_t length = 10'000;
};

constexpr unsigned most_in_log = 10;  // clients whose exchange is logged

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    util::need_open_files(options.clients + 32, fmt::format("--clients {}", options.clients));
    const util::Address server = options.client.resolve_server();
    const auto source = options.client.local.resolve(0, server.is_ipv6());
    const auto tls = lesson07::open_tls(net::TlsRole::Client, options.secure, log);
    const lesson08::Process process{
        stop,
        *tls,
        server,
        source,
        lesson06::open_port(source ? *source : net::local_address_towards(server)),
        options.client.timeout,
        options.operations,
        options.length};
    std::vector<std::unique_ptr<OneClient>> clients;
    for (unsigned number = 1; number <= options.clients; ++number)
        clients.push_back(
            std::make_unique<OneClient>(process, number <= most_in_log ? &log : nullptr, number));
    lesson08::Crowd<OneClient> crowd(std::move(clients), options.at_once, log);
    crowd.each("are connected", &OneClient::connect);
    crowd.log_setup();
    crowd.each("have exchanged data", &OneClient::work);
    crowd.each("have disconnected", &OneClient::disconnect);
    return crowd.failures() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Lesson 08, client: one or many clients, each with a queue pair of its own.");
    Options options;
    options.client.timeout = std::chrono::seconds(30);  // for a thousand clients
    command_line.add(options.client);
    command_line.add(options.secure);
    command_line.number("--clients", options.clients, 1, 100'000, "Clients to run concurrently");
    command_line.number("--at-once", options.at_once, 1, 100'000, "Threads that run these clients");
    command_line.number("--operations", options.operations, 1, 1'000'000'000,
                        "Rounds of WRITE, READ and SEND per client");
    command_line.number("--length", options.length, 1, 1u << 30, "Bytes to write and read back");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}

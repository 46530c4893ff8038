// Lesson 08, hardened, the server: many clients on one thread. Each client has its own protection domain,
// memory, completion queue and queue pair. They share the device, the listening socket, and the
// completion channel, which reports whose queue has completions. ibv_modify_qp to RTR, the only
// verb that may block, runs on other threads.
#include <csignal>

#include <fmt/format.h>

#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/tracer.hpp"
#include "service.hpp"
#include "util/limits.hpp"

namespace {

using lesson08::Options;

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    util::SignalFd usr1{SIGUSR1};
    util::need_open_files(options.clients + lesson08::Bounds().newcomers + 32,
                          fmt::format("--clients {}", options.clients));
    const auto tls = lesson07::open_tls(net::TlsRole::Server, options.secure, log);
    lesson08::Service service(options, *tls, log);
    service.run(stop, usr1);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server",
        "Lesson 08, server: many clients on one thread, each with a queue pair of its own.");
    Options options;
    command_line.add(options.server);
    command_line.add(options.secure);
    command_line.number("--clients", options.clients, 1, 100'000,
                        "Largest number of clients at a time");
    command_line.number("--memory", options.memory, 1, 1u << 30,
                        "Bytes of memory exposed to each client");
    command_line.number("--setup-time", options.setup_time, 1, 3600,
                        "Time limit in seconds for the TLS handshake, and for the exchange");
    command_line.number("--idle-time", options.idle_time, 1, 86'400,
                        "Drop a client after this many seconds without a SEND");
    command_line.number("--stats", options.stats, 0, 86'400,
                        "Print statistics every N seconds (0: on SIGUSR1 and at the end)");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}

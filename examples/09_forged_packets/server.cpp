// Lesson 09, the server: the target of the attack.
#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "lab_only.hpp"
#include "session.hpp"

namespace {

struct Options {
    common::ServerOptions server;
    common::SecureOptions secure;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const auto address = options.server.address();
    if (!address.is_any())
        lesson09::require_lab(address);
    const auto tls = lesson07::open_tls(net::TlsRole::Server, options.secure, log);
    common::serve_each(address, log, stop, [&](net::Socket socket) {
        lesson09::require_lab(socket.peer);
        net::TlsChannel channel(*tls, std::move(socket),
                                {stop, util::deadline_in(lesson09::exchange_time)});
        lesson09::Session(channel, channel.socket().local(), log, stop).serve();
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Lesson 09, server: exposes memory, and reports what forged packets did to it.");
    Options options;
    command_line.add(options.server);
    command_line.add(options.secure);
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}

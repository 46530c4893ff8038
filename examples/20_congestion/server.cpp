// Step 20, the passive side: lends memory to WRITEs that come through a bottleneck.
#include "exchange/tcp.hpp"
#include "lesson/exchange_server.hpp"
#include "lesson/program.hpp"
#include "transfer.hpp"
#include "util/check.hpp"

namespace {

constexpr std::chrono::milliseconds patience{30'000};

void serve(exchange::TcpChannel& channel, runlog::Log& log, util::StopSignal& stop) {
    const auto [context, gid] = verbs::open_device_of(channel.socket().local());
    log.event("device", verbs::describe_device(context.get(), gid.port, &gid));
    const verbs::Pd pd{util::check_ptr(ibv_alloc_pd(context.get()), "ibv_alloc_pd")};
    const lesson::LinkSide side{channel, context.get(), gid, pd.get(), log, stop, patience};
    while (const auto memory = step20::Ask::receive(channel, {stop, std::nullopt}).memory)
        step20::lend(side, memory);
    side.meet();
}

int run(const lesson::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    const util::Address address = options.address();
    lesson::serve_each(address, log, stop, [&](exchange::Socket socket) {
        exchange::notice_when_gone(socket);
        exchange::TcpChannel channel(std::move(socket));
        serve(channel, log, stop);
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    lesson::CommandLine command_line("server",
                                     "Step 20, server: lends memory behind a bottleneck.");
    lesson::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}

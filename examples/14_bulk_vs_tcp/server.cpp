// Step 14, the passive side: lends memory to WRITEs, or receives a stream into it; and says what it
// has in the end, and what that took it.
#include <vector>

#include "exchange/tcp.hpp"
#include "lesson/exchange_server.hpp"
#include "lesson/program.hpp"
#include "rdma.hpp"
#include "tcp.hpp"
#include "util/limits.hpp"

namespace {

using step14::Ask;
using step14::Task;

constexpr std::chrono::milliseconds patience{30'000};

void check_memory(std::uint64_t wanted) {
    if (const auto available = util::available_memory(); wanted > available)
        throw util::Error(fmt::format(
            "the client asks for a buffer of {} MiB, and this machine has {} MiB: give the client "
            "a smaller --buffer.",
            wanted >> 20, available >> 20));
}

void serve(exchange::TcpChannel& channel, const util::Address& address, runlog::Log& log,
           util::StopSignal& stop) {
    const auto [context, gid] = verbs::open_device_of(channel.socket().local());
    log.event("device", verbs::describe_device(context.get(), gid.port, &gid));
    const verbs::Pd pd{util::check_ptr(ibv_alloc_pd(context.get()), "ibv_alloc_pd")};
    const lesson::LinkSide side{channel, context.get(), gid, pd.get(), log, stop, patience};
    while (true) {
        const Ask ask = Ask::receive(channel, {stop, std::nullopt});
        if (ask.task == Task::Done)
            return side.meet();
        check_memory(ask.plan.buffer);
        const auto result = ask.task == Task::Write
                                ? step14::lend(side, ask.plan)
                                : step14::receive_stream(side, address, ask.plan);
        result.send(channel, side.patience());
    }
}

int run(const lesson::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    if (options.port == 65535)
        throw util::Error("--port is at most 65534: the TCP stream has the port behind it.");
    const util::Address address = options.address();
    lesson::serve_each(address, log, stop, [&](exchange::Socket socket) {
        exchange::TcpChannel channel(std::move(socket));
        serve(channel, address, log, stop);
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    lesson::CommandLine command_line(
        "server",
        "Step 14, server: receives bytes by RDMA WRITE and by TCP. The TCP stream\n"
        "has a port of its own, the one behind --port.");
    lesson::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}

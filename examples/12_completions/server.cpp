// Step 12, the passive side: does what the client asks for, part by part. In most of them it only
// lends memory, and has no part in what is to be seen.
#include "credits.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/program.hpp"
#include "exchange/tcp.hpp"
#include "inline_data.hpp"
#include "overrun.hpp"

namespace {

using step12::Ask;
using step12::Side;
using step12::Task;

constexpr std::chrono::milliseconds patience{10'000};
constexpr int access_rights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

void lend(const Side& side) {
    std::vector<std::byte> memory(4096);
    const verbs::Mr mr = verbs::register_memory(side.pd.get(), memory, access_rights);
    side.log.event("mr", verbs::describe(*mr, access_rights));
    verbs::CompletionQueue unused(side.context(), 1);
    const step12::Link link(side, {.send_cq = unused.cq.get(), .recv_cq = unused.cq.get()},
                            mr.get());
    side.meet();
    side.meet_at_last();
    side.log.event("memory", common::describe_memory(memory));
}

void serve(exchange::TcpChannel& channel, runlog::Log& log, util::StopSignal& stop) {
    verbs::DevicePort device = verbs::open_device_of(channel.socket().local());
    log.event("device", verbs::describe_device(device.context.get(), device.gid.port, &device.gid));
    verbs::Pd pd{util::check_ptr(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
    const Side side{channel, std::move(device), std::move(pd), 0x5e2000, log, stop, patience};
    while (true) {
        const Ask ask = step12::receive_ask(side);
        switch (ask.task) {
            case Task::Lend:
                lend(side);
                break;
            case Task::ReceiveLate:
                step12::receive_late(side, ask);
                break;
            case Task::Overrun:
                step12::be_overrun(side, ask);
                break;
            case Task::Receive:
            case Task::GiveCredits:
                step12::Receiver(side, ask).receive_all();
                break;
            case Task::Done:
                side.meet();
                return;
        }
    }
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    const util::Address address = options.address();
    common::serve_each(address, log, stop, [&](exchange::Socket socket) {
        exchange::TcpChannel channel(std::move(socket));
        serve(channel, log, stop);
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Step 12, server: lends memory, and receives too much or too slowly if asked.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}

// Step 10, the passive side: receives over whatever transport the client asks for, and tells what
// came.
#include "examples/common/exchange_server.hpp"
#include "examples/common/program.hpp"
#include "exchange/tcp.hpp"
#include "multicast.hpp"
#include "shared_queue.hpp"
#include "util/check.hpp"
#include "xrc.hpp"

namespace {

using step10::Ask;
using step10::Side;
using step10::Task;

constexpr std::chrono::milliseconds patience{10'000};

void serve(exchange::TcpChannel& channel, runlog::Log& log, util::StopSignal& stop) {
    verbs::DevicePort device = verbs::open_device_of(channel.socket().local());
    log.event("device", verbs::describe_device(device.context.get(), device.gid.port, &device.gid));
    verbs::Pd pd{util::check_ptr(ibv_alloc_pd(device.context.get()), "ibv_alloc_pd")};
    const Side side{channel, std::move(device), std::move(pd), 0x5e1000, log, stop, patience};
    while (true) {
        const Ask ask = step10::receive_ask(side);
        switch (ask.task) {
            case Task::ReceiveRc:
            case Task::ReceiveUc:
            case Task::ReceiveUd:
                step10::receive_numbered(side, ask);
                break;
            case Task::Datagrams:
                step10::receive_datagrams(side, ask);
                break;
            case Task::Multicast:
                step10::receive_as_group(side, ask);
                break;
            case Task::SharedQueue:
                step10::receive_in_shared_queue(side);
                break;
            case Task::SharedXrc:
                step10::receive_over_xrc(side);
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
        "server", "Step 10, server: receives over RC, UC, UD or XRC, as the client asks.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}

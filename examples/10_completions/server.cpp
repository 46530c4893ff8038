// Lesson 10, the server: runs the parts that the client requests. In most parts it only exposes
// memory.
#include <vector>

#include "credits.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "inline_data.hpp"
#include "overrun.hpp"

namespace {

using lesson10::Ask;
using lesson10::Side;
using lesson10::Task;

constexpr std::chrono::milliseconds time_limit{10'000};

void expose(const Side& side) {
    const lesson10::Connection to(side, {}, std::vector<std::byte>(4096));
    side.barrier();
    side.last_barrier();
    side.log.event("memory", common::describe_memory(to.bytes));
}

void serve(const Side& side) {
    while (true) {
        const Ask ask = Ask::receive(side);
        switch (ask.task) {
            case Task::Expose:
                expose(side);
                break;
            case Task::ReceiveLate:
                lesson10::receive_late(side, ask);
                break;
            case Task::Overrun:
                lesson10::be_overrun(side, ask);
                break;
            case Task::Receive:
            case Task::GiveCredits:
                lesson10::receive_messages(side, ask);
                break;
            case Task::Done:
                side.barrier();
                return;
        }
    }
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    common::serve_each(options.address(), log, stop, [&](net::Socket socket) {
        net::TcpChannel channel(std::move(socket));
        const lesson06::Port port = lesson06::open_port(channel.socket().local());
        const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
        serve({channel, port, pd.get(), 0x5e2000, log, stop, time_limit});
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server",
        "Lesson 10, server: exposes memory; on request, receives too much or too slowly.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}

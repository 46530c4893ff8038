// Step 15, the server: exposes memory to WRITEs whose packets may be lost, and falls silent.
#include <vector>

#include "connection.hpp"
#include "examples/common/chunks.hpp"
#include "examples/common/counted.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "words.hpp"

namespace {

using namespace step15;

constexpr std::chrono::milliseconds time_limit{30'000};

// Part 1: until the client is done.
void expose(const Side& side, std::uint64_t size) {
    std::vector<std::byte> memory(size);
    const verbs::Mr mr{util::check_ptr(ibv_reg_mr(side.pd, memory.data(), memory.size(),
                                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
                                       "ibv_reg_mr")};
    const Connection connection = connect(side, {.first_psn = 0x5e1500, .exposed = mr.get()});
    side.barrier();
    const common::Counted counted(side.port.context.get(), verbs::Gid{.port = side.port.number});
    exchange::meet(side.channel, {side.stop, std::nullopt});
    side.log.event("memory", common::describe_memory(memory));
    common::Seen{common::crc_of(memory),
                 static_cast<std::uint32_t>(counted.since("out_of_seq_request")),
                 static_cast<std::uint32_t>(counted.since("duplicate_request"))}
        .send(side.channel, side.patience());
}

// Part 2: no message tells the client that the queue pair is destroyed.
void fall_silent(const Side& side) {
    {
        const Connection connection = connect(side, {.first_psn = 0x5e1580});
        side.barrier();
    }
    side.log.note("the queue pair is destroyed; nothing tells the client");
    side.barrier();
}

void serve(const Side& side) {
    while (true) {
        const Ask ask = Ask::receive(side.channel, {side.stop, std::nullopt});
        switch (ask.task) {
            case Task::Expose:
                expose(side, ask.memory);
                break;
            case Task::FallSilent:
                fall_silent(side);
                break;
            case Task::Done:
                return side.barrier();
        }
    }
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    common::serve_each(options.address(), log, stop, [&](exchange::Socket socket) {
        exchange::notice_when_gone(socket);
        exchange::TcpChannel channel(std::move(socket));
        const step06::Port port = step06::open_port(channel.socket().local());
        const verbs::Pd pd{util::check_ptr(ibv_alloc_pd(port.context.get()), "ibv_alloc_pd")};
        serve({channel, port, pd.get(), log, stop, time_limit});
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server",
        "Step 15, server: exposes memory over a link that loses packets, and falls silent.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}

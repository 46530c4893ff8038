// Step 20, the server: exposes memory to WRITEs that come through a bottleneck.
#include <vector>

#include "examples/15_packet_loss/connection.hpp"
#include "examples/common/chunks.hpp"
#include "examples/common/counted.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "protocol.hpp"

namespace {

constexpr std::chrono::milliseconds time_limit{30'000};

// One transfer: until the client is done, and then what has arrived.
void expose(const step15::Side& side, std::uint64_t size) {
    std::vector<std::byte> memory(size);
    const verbs::Mr mr{util::check_ptr(ibv_reg_mr(side.pd, memory.data(), memory.size(),
                                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
                                       "ibv_reg_mr")};
    const step15::Connection connection =
        step15::connect(side, {.first_psn = 0x5e2000, .exposed = mr.get()});
    side.barrier();
    const common::Counted counted(side.port.context.get(), verbs::Gid{.port = side.port.number});
    exchange::meet(side.channel, {side.stop, std::nullopt});
    side.log.event("memory", common::describe_memory(memory));
    common::Seen{common::crc_of(memory),
                 static_cast<std::uint32_t>(counted.since("out_of_seq_request")),
                 static_cast<std::uint32_t>(counted.since("duplicate_request"))}
        .send(side.channel, side.patience());
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    common::serve_each(options.address(), log, stop, [&](exchange::Socket socket) {
        exchange::notice_when_gone(socket);
        exchange::TcpChannel channel(std::move(socket));
        const step06::Port port = step06::open_port(channel.socket().local());
        const verbs::Pd pd{util::check_ptr(ibv_alloc_pd(port.context.get()), "ibv_alloc_pd")};
        const step15::Side side{channel, port, pd.get(), log, stop, time_limit};
        while (const auto memory = step20::Ask::receive(channel, {stop, std::nullopt}).memory)
            expose(side, memory);
        side.barrier();
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server",
                                     "Step 20, server: exposes memory behind a bottleneck.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}

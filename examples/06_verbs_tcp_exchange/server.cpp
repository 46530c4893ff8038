// Lesson 06, the server: no connection manager. The program creates device, queue pair and memory
// itself, and exchanges the endpoints over plain TCP, where anyone can read them.
#include <string>
#include <vector>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "util/check.hpp"

namespace {

constexpr std::uint64_t default_psn = 0x5e1f00;

struct Options {
    common::ServerOptions server;
    std::uint64_t memory = 1 << 20;
    std::uint64_t psn = default_psn;
};

constexpr unsigned peer_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr std::chrono::milliseconds exchange_time{5000};

void serve(net::TcpChannel& channel, const Options& options, runlog::Log& log,
           util::StopSignal& stop) {
    // 1. Open the device that owns the address that the client connected to.
    const lesson06::Port port = lesson06::open_port(channel.socket().local());
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    std::vector<std::byte> memory(options.memory);
    const rdma::Mr mr{CHECK_PTR(
        ibv_reg_mr(pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE | peer_access))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(port.context.get(), 1, nullptr, nullptr, 0))};
    ibv_qp_init_attr attributes{
        .send_cq = cq.get(),
        .recv_cq = cq.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp(pd.get(), &attributes))};

    // 2. The endpoints: what each side must know of the other. This side chooses its own first PSN.
    net::Endpoint mine{.qpn = qp->qp_num,
                       .psn = static_cast<std::uint32_t>(options.psn),
                       .lid = port.lid,
                       .path_mtu = port.path_mtu,
                       .va = reinterpret_cast<std::uintptr_t>(memory.data()),
                       .length = memory.size(),
                       .rkey = mr->rkey};
    std::memcpy(mine.gid.data(), port.gid.raw, mine.gid.size());
    log.event("psn", {{"qpn", mine.qpn},
                      {"psn", mine.psn},
                      {"source", options.psn == default_psn ? "the program's default" : "--psn"}});
    const net::TimeLimit limit{stop, util::deadline_in(exchange_time)};
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    log.event("exchange", net::describe(theirs, "received", channel.name()));
    net::send_endpoint(channel, mine, limit);
    log.event("exchange", net::describe(mine, "sent", channel.name()));

    // 3. From RESET to RTS.
    lesson06::to_init(qp.get(), port, peer_access);
    lesson06::to_rtr(qp.get(), port, theirs);
    lesson06::to_rts(qp.get(), mine.psn);

    // 4. Neither side may send before the other is in RTR, and the memory must stay registered
    // until the client is done.
    net::barrier(channel, limit);
    net::barrier(channel, {stop, std::nullopt});
    log.event("memory", common::describe_memory(memory));
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    common::serve_each(options.server.address(), log, stop, [&](net::Socket socket) {
        net::TcpChannel channel(std::move(socket));
        serve(channel, options, log, stop);
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server",
        "Lesson 06, server: connects without rdma_cm; exchanges endpoints over plain TCP.");
    Options options;
    command_line.add(options.server);
    command_line.number("--memory", options.memory, 1, 1u << 30,
                        "Bytes of memory exposed to each client");
    command_line.number("--psn", options.psn, 0, 0xffffff,
                        "PSN of the first packet that this side sends");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}

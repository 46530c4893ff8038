// Lesson 07, the server: lesson 06 with two changes. It accepts only a client with a certificate of
// the lab's CA, over TLS 1.3, and its first PSN is random. Nobody else can read the endpoints.
#include <string>
#include <vector>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "util/check.hpp"

namespace {

struct Options {
    common::ServerOptions server;
    common::SecureOptions secure;
    std::uint64_t memory = 1 << 20;
};

constexpr unsigned peer_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr std::chrono::milliseconds exchange_time{5000};

void serve(net::TlsChannel& channel, const Options& options, runlog::Log& log,
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
                       .psn = lesson07::random_psn(),
                       .lid = port.lid,
                       .path_mtu = port.path_mtu,
                       .va = reinterpret_cast<std::uintptr_t>(memory.data()),
                       .length = memory.size(),
                       .rkey = mr->rkey};
    std::memcpy(mine.gid.data(), port.gid.raw, mine.gid.size());
    log.event("psn", {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "RAND_bytes"}});
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
    const auto tls = lesson07::open_tls(net::TlsRole::Server, options.secure, log);
    common::serve_each(options.server.address(), log, stop, [&](net::Socket socket) {
        net::TlsChannel channel(*tls, std::move(socket), {stop, util::deadline_in(exchange_time)});
        serve(channel, options, log, stop);
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server",
                                     "Lesson 07, server: connects without rdma_cm; exchanges "
                                     "endpoints and random PSNs over TLS 1.3.");
    Options options;
    command_line.add(options.server);
    command_line.add(options.secure);
    command_line.number("--memory", options.memory, 1, 1u << 30,
                        "Bytes of memory exposed to each client");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}

// Lesson 18, the server: exposes memory as in lesson 07, accepts RoCE from its client in ESP only,
// and reports the packets that its kernel has dropped.
#include <optional>
#include <vector>

#include "esp.hpp"
#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "protocol.hpp"
#include "util/check.hpp"

namespace {

struct Options {
    common::ServerOptions server;
    common::SecureOptions secure;
};

constexpr std::size_t memory_size = 4096;
constexpr unsigned peer_access = IBV_ACCESS_REMOTE_WRITE;
constexpr std::chrono::milliseconds exchange_time{10'000};

void serve(net::TlsChannel& channel, runlog::Log& log, util::StopSignal& stop) {
    // 1. As in lesson 07: a queue pair with a random PSN, memory, and the exchange of endpoints
    // over TLS.
    const lesson06::Port port = lesson06::open_port(channel.socket().local());
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    std::vector<std::byte> memory(memory_size);
    const rdma::Mr mr{CHECK_PTR(
        ibv_reg_mr(pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE | peer_access))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(port.context.get(), 1, nullptr, nullptr, 0))};
    ibv_qp_init_attr attributes{
        .send_cq = cq.get(),
        .recv_cq = cq.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp(pd.get(), &attributes))};
    net::Endpoint mine{.qpn = qp->qp_num,
                       .psn = lesson07::random_psn(),
                       .lid = port.lid,
                       .path_mtu = port.path_mtu,
                       .va = reinterpret_cast<std::uintptr_t>(memory.data()),
                       .length = memory.size(),
                       .rkey = mr->rkey};
    std::memcpy(mine.gid.data(), port.gid.raw, mine.gid.size());
    const net::TimeLimit limit{stop, util::deadline_in(exchange_time)};
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    net::send_endpoint(channel, mine, limit);

    // 2. Exchange the keys over TLS, too. Each side chooses those for the packets to it.
    std::array<std::byte, lesson18::Sa::size> bytes{};
    channel.receive(bytes, limit);
    const lesson18::Sa out = lesson18::Sa::parse(bytes);
    const lesson18::Sa in = lesson18::Sa::random();
    channel.send(in.serialize(), limit);
    std::optional<lesson18::Esp> esp;
    if (out.spi != 0)
        esp.emplace(channel.socket().local(), channel.peer(), in, out);
    log.note(esp ? "UDP from and to the client: in ESP only" : "without ESP, as the client asks");

    // 3. From RESET to RTS; nothing may be sent before both hosts have their keys.
    lesson06::to_init(qp.get(), port, peer_access);
    lesson06::to_rtr(qp.get(), port, theirs);
    lesson06::to_rts(qp.get(), mine.psn);
    net::barrier(channel, {stop, util::deadline_in(exchange_time)});

    // 4. On each request of the client, report the memory and the dropped packets.
    for (std::array<std::byte, 1> ask{}; true;) {
        const net::TimeLimit next{stop, util::deadline_in(exchange_time)};
        channel.receive(ask, next);
        if (ask[0] == std::byte{0})
            break;
        lesson18::Report report{.memory = {}, .counts = lesson18::read_counts()};
        std::copy_n(memory.begin(), report.memory.size(), report.memory.begin());
        channel.send(report.serialize(), next);
    }
    log.event("memory", common::describe_memory(memory));
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    lesson18::prepare();
    const auto tls = lesson07::open_tls(net::TlsRole::Server, options.secure, log);
    common::serve_each(options.server.address(), log, stop, [&](net::Socket socket) {
        net::TlsChannel channel(*tls, std::move(socket), {stop, util::deadline_in(exchange_time)});
        serve(channel, log, stop);
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Lesson 18, server: accepts RoCE in ESP only, with keys received over TLS.");
    Options options;
    command_line.add(options.server);
    command_line.add(options.secure);
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}

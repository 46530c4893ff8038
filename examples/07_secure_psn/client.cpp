// Lesson 07, the client: lesson 06 with two changes. The endpoints cross in TLS 1.3, where each side
// proves its identity, and the first PSN is random: secret until the first packet shows it.
#include <algorithm>
#include <string>
#include <vector>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/request.hpp"
#include "examples/common/tracer.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    common::SecureOptions secure;
    std::uint64_t length = 10'000;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const std::chrono::milliseconds timeout = options.client.timeout;
    const net::TimeLimit limit{stop, util::deadline_in(timeout)};
    const util::Address server = options.client.resolve_server();
    const auto tls = lesson07::open_tls(net::TlsRole::Client, options.secure, log);
    net::TlsChannel channel(
        *tls, net::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()), limit),
        limit);

    // 1. Open the device that owns the local address of this connection, and create the same
    // objects as in lesson 01.
    const lesson06::Port port = lesson06::open_port(channel.socket().local());
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    std::vector<std::byte> outgoing = common::pattern(options.length, "By hand. ");
    std::vector<std::byte> returned(options.length);
    const rdma::Mr outgoing_mr{
        CHECK_PTR(ibv_reg_mr(pd.get(), outgoing.data(), outgoing.size(), 0))};
    const rdma::Mr returned_mr{
        CHECK_PTR(ibv_reg_mr(pd.get(), returned.data(), returned.size(), IBV_ACCESS_LOCAL_WRITE))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(port.context.get(), 2, nullptr, nullptr, 0))};
    ibv_qp_init_attr attributes{
        .send_cq = cq.get(),
        .recv_cq = cq.get(),
        .cap = {.max_send_wr = 2, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp(pd.get(), &attributes))};

    // 2. The endpoints: what each side must know of the other. This side exposes no memory and
    // chooses its own first PSN.
    net::Endpoint mine{.qpn = qp->qp_num,
                       .psn = lesson07::random_psn(),
                       .lid = port.lid,
                       .path_mtu = port.path_mtu};
    std::memcpy(mine.gid.data(), port.gid.raw, mine.gid.size());
    log.event("psn", {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "RAND_bytes"}});
    net::send_endpoint(channel, mine, limit);
    log.event("exchange", net::describe(mine, "sent", channel.name()));
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    log.event("exchange", net::describe(theirs, "received", channel.name()));
    if (theirs.length < options.length)
        throw util::Error("the server exposes " + std::to_string(theirs.length) +
                          " bytes, fewer than --length " + std::to_string(options.length) +
                          ". Start it with a larger --memory.");

    // 3. From RESET to RTS.
    lesson06::to_init(qp.get(), port, 0);
    lesson06::to_rtr(qp.get(), port, theirs);
    lesson06::to_rts(qp.get(), mine.psn);

    // 4. Neither side may send before the other is in RTR.
    net::barrier(channel, limit);
    const common::RemoteMemory remote{.va = theirs.va, .rkey = theirs.rkey};
    common::transfer(qp.get(), 1, IBV_WR_RDMA_WRITE, *outgoing_mr, remote, stop, timeout);
    common::transfer(qp.get(), 2, IBV_WR_RDMA_READ, *returned_mr, remote, stop, timeout);
    log.event("memory", common::describe_memory(returned));

    // 5. The server keeps its memory until both sides are done.
    net::barrier(channel, {stop, util::deadline_in(timeout)});
    if (!std::ranges::equal(outgoing, returned))
        throw util::Error("the bytes READ back differ from the bytes written.");
    log.note("the bytes read back equal the bytes written");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client",
                                     "Lesson 07, client: connects without rdma_cm; exchanges "
                                     "endpoints and random PSNs over TLS 1.3.");
    Options options;
    command_line.add(options.client);
    command_line.add(options.secure);
    command_line.number("--length", options.length, 1, 1u << 30, "Bytes to write and read back");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}

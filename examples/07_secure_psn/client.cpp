// Step 07, the active side: the same WRITE and READ as in step 01, over a connection that this
// program makes itself.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "exchange/psn_source.hpp"
#include "exchange/tls.hpp"
#include "lesson/memory.hpp"
#include "lesson/program.hpp"
#include "lesson/secure.hpp"
#include "lesson/transfer.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "verbs/completion.hpp"
#include "verbs/describe.hpp"
#include "verbs/device.hpp"
#include "verbs/names.hpp"
#include "verbs/rc_states.hpp"

namespace {

struct Options {
    lesson::ClientOptions client;
    lesson::SecureOptions secure;
    std::uint64_t length = 10'000;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const std::chrono::milliseconds timeout = options.client.timeout;
    const exchange::Patience patience{stop, util::deadline_in(timeout)};
    const util::Address server = options.client.resolve_server();
    const auto tls = lesson::open_tls(exchange::TlsRole::Client, options.secure, log);
    exchange::TlsChannel channel(
        *tls,
        exchange::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()), patience),
        patience);

    // 1. The device is the one whose address this connection uses.
    const auto [context, gid] = verbs::open_device_of(channel.socket().local());
    log.event("device", verbs::describe_device(context.get(), gid.port, &gid));
    const verbs::Pd pd{util::check_ptr(ibv_alloc_pd(context.get()), "ibv_alloc_pd")};
    std::vector<std::byte> outgoing = lesson::pattern(options.length, "By hand. ");
    std::vector<std::byte> returned(options.length);
    const verbs::Mr outgoing_mr = verbs::register_memory(pd.get(), outgoing, 0);
    const verbs::Mr returned_mr =
        verbs::register_memory(pd.get(), returned, IBV_ACCESS_LOCAL_WRITE);
    log.event("mr", verbs::describe(*outgoing_mr, 0));
    log.event("mr", verbs::describe(*returned_mr, IBV_ACCESS_LOCAL_WRITE));
    verbs::CompletionQueue completions(context.get(), 2);
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = completions.cq.get();
    attributes.recv_cq = completions.cq.get();
    attributes.cap = {.max_send_wr = 2,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    const verbs::Qp qp{util::check_ptr(ibv_create_qp(pd.get(), &attributes), "ibv_create_qp")};
    log.event("qp", verbs::describe(*qp, attributes.cap));

    // 2. The endpoints. This side lends no memory; its PSN is its own choice.
    const ibv_port_attr port = verbs::query_port(context.get(), gid.port);
    exchange::Endpoint mine{
        .qpn = qp->qp_num,
        .psn = exchange::random_psn(),
        .lid = port.lid,
        .path_mtu = static_cast<std::uint16_t>(verbs::bytes_of(port.active_mtu))};
    std::memcpy(mine.gid.data(), gid.raw.raw, mine.gid.size());
    log.event("psn", {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "RAND_bytes"}});
    exchange::send_endpoint(channel, mine, patience);
    log.event("exchange", exchange::describe(mine, "sent", channel.name()));
    const exchange::Endpoint theirs = exchange::receive_endpoint(channel, patience);
    log.event("exchange", exchange::describe(theirs, "received", channel.name()));
    if (theirs.length < options.length)
        throw util::Error("the server lends " + std::to_string(theirs.length) +
                          " bytes, fewer than --length " + std::to_string(options.length) +
                          ". Start it with a larger --memory.");

    // 3. To RTS. The path MTU is what both can.
    verbs::RcPeer peer{.qpn = theirs.qpn, .psn = theirs.psn};
    std::memcpy(peer.gid.raw, theirs.gid.data(), theirs.gid.size());
    verbs::to_init(qp.get(), gid.port, 0);
    verbs::to_rtr(qp.get(), gid, peer, std::min(mine.path_mtu, theirs.path_mtu));
    verbs::to_rts(qp.get(), mine.psn);
    log.event("qp_state", verbs::query_state(qp.get()));

    // 4. Neither side sends before both can receive.
    exchange::meet(channel, patience);
    auto psns = verbs::PsnPredictor::of(qp.get());
    const lesson::RemoteMemory remote{.va = theirs.va, .rkey = theirs.rkey};
    lesson::transfer(qp.get(), IBV_WR_RDMA_WRITE, 1, *outgoing_mr, remote, psns, completions,
                     timeout, log, stop);
    lesson::transfer(qp.get(), IBV_WR_RDMA_READ, 2, *returned_mr, remote, psns, completions,
                     timeout, log, stop);
    log.event("memory", lesson::describe_memory(returned));

    // 5. Both are done: the server's memory may go.
    exchange::meet(channel, {stop, util::deadline_in(timeout)});
    if (!std::ranges::equal(outgoing, returned))
        throw util::Error("the bytes READ back differ from the bytes written.");
    log.note("the bytes read back equal the bytes written");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    lesson::CommandLine command_line(
        "client",
        "Step 07, client: a connection by hand, its endpoints over TLS 1.3, its PSN random.");
    Options options;
    command_line.add(options.client);
    command_line.add(options.secure);
    command_line.number("--length", options.length, 1, 1u << 30, "Bytes to write and read back");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}

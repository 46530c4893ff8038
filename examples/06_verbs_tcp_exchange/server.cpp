// Step 06, the passive side: no connection manager. Device, queue pair and memory are made by hand,
// and the endpoints travel over an ordinary TCP connection, for anyone to read.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "exchange/tcp.hpp"
#include "lesson/exchange_server.hpp"
#include "lesson/memory.hpp"
#include "lesson/program.hpp"
#include "util/check.hpp"
#include "verbs/completion.hpp"
#include "verbs/describe.hpp"
#include "verbs/device.hpp"
#include "verbs/names.hpp"
#include "verbs/rc_states.hpp"

namespace {

constexpr std::uint64_t default_psn = 0x5e1f00;

struct Options {
    lesson::ServerOptions server;
    std::uint64_t memory = 1 << 20;
    std::uint64_t psn = default_psn;
};

constexpr int access_rights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr std::chrono::milliseconds exchange_time{5000};

void serve(exchange::TcpChannel& channel, const Options& options, runlog::Log& log,
           util::StopSignal& stop) {
    // 1. The device is the one whose address the client has reached.
    const auto [context, gid] = verbs::open_device_of(channel.socket().local());
    log.event("device", verbs::describe_device(context.get(), gid.port, &gid));
    const verbs::Pd pd{util::check_ptr(ibv_alloc_pd(context.get()), "ibv_alloc_pd")};
    std::vector<std::byte> memory(options.memory);
    const verbs::Mr mr = verbs::register_memory(pd.get(), memory, access_rights);
    log.event("mr", verbs::describe(*mr, access_rights));
    verbs::CompletionQueue completions(context.get(), 1);
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = completions.cq.get();
    attributes.recv_cq = completions.cq.get();
    attributes.cap = {.max_send_wr = 1,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    const verbs::Qp qp{util::check_ptr(ibv_create_qp(pd.get(), &attributes), "ibv_create_qp")};
    log.event("qp", verbs::describe(*qp, attributes.cap));

    // 2. The endpoints: what each side has to know of the other. The PSN is this side's choice.
    const ibv_port_attr port = verbs::query_port(context.get(), gid.port);
    exchange::Endpoint mine{
        .qpn = qp->qp_num,
        .psn = static_cast<std::uint32_t>(options.psn),
        .lid = port.lid,
        .path_mtu = static_cast<std::uint16_t>(verbs::bytes_of(port.active_mtu)),
        .va = reinterpret_cast<std::uintptr_t>(memory.data()),
        .length = memory.size(),
        .rkey = mr->rkey};
    std::memcpy(mine.gid.data(), gid.raw.raw, mine.gid.size());
    log.event("psn", {{"qpn", mine.qpn},
                      {"psn", mine.psn},
                      {"source", options.psn == default_psn ? "the program's default" : "--psn"}});
    const exchange::Patience patience{stop, util::deadline_in(exchange_time)};
    const exchange::Endpoint theirs = exchange::receive_endpoint(channel, patience);
    log.event("exchange", exchange::describe(theirs, "received", channel.name()));
    exchange::send_endpoint(channel, mine, patience);
    log.event("exchange", exchange::describe(mine, "sent", channel.name()));

    // 3. To RTS. The path MTU is what both can.
    verbs::RcPeer peer{.qpn = theirs.qpn, .psn = theirs.psn};
    std::memcpy(peer.gid.raw, theirs.gid.data(), theirs.gid.size());
    verbs::to_init(qp.get(), gid.port, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    verbs::to_rtr(qp.get(), gid, peer, std::min(mine.path_mtu, theirs.path_mtu));
    verbs::to_rts(qp.get(), mine.psn);
    log.event("qp_state", verbs::query_state(qp.get()));

    // 4. Neither side sends before both can receive; and the memory stays until the client is done.
    exchange::meet(channel, patience);
    exchange::meet(channel, {stop, std::nullopt});
    log.event("memory", lesson::describe_memory(memory));
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const util::Address address = options.server.address();
    lesson::serve_each(address, log, stop, [&](exchange::Socket socket) {
        exchange::TcpChannel channel(std::move(socket));
        serve(channel, options, log, stop);
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    lesson::CommandLine command_line(
        "server", "Step 06, server: a connection by hand, its endpoints over plain TCP.");
    Options options;
    command_line.add(options.server);
    command_line.number("--memory", options.memory, 1, 1u << 30,
                        "Bytes of memory lent to each client");
    command_line.number("--psn", options.psn, 0, 0xffffff,
                        "PSN of the first packet sent from here");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}

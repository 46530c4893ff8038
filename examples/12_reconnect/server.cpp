// Lesson 12, the server: applies each numbered message once, and periodically breaks the
// connection.
#include <array>
#include <string>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/program.hpp"
#include "examples/common/request.hpp"
#include "examples/common/tracer.hpp"
#include "protocol.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

constexpr std::size_t slots = 4;  // receives posted
constexpr std::chrono::milliseconds exchange_time{5000};

struct Options {
    common::ServerOptions server;
    std::uint64_t break_after = 7;
};

// State that outlives the connections.
struct State {
    lesson12::Applied applied;
    std::array<std::byte, lesson12::Applied::size> bytes{};  // serialized, for the client's READs
};

void post_receive(ibv_qp* qp, std::uint64_t slot, const ibv_mr& mr) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(mr.addr) + slot * lesson12::Message::size,
                .length = lesson12::Message::size,
                .lkey = mr.lkey};
    ibv_recv_wr wr{.wr_id = slot, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_recv(qp, &wr, &bad_wr));
}

// Serves one connection until the client disconnects or the server breaks it.
void serve(net::TcpChannel& channel, const Options& options, State& state, runlog::Log& log,
           util::StopSignal& stop) {
    // 1. The resources of one connection.
    const net::TimeLimit limit{stop, util::deadline_in(exchange_time)};
    const lesson06::Port port = lesson06::open_port(channel.socket().local());
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    std::array<std::array<std::byte, lesson12::Message::size>, slots> inbox{};
    const rdma::Mr inbox_mr{
        CHECK_PTR(ibv_reg_mr(pd.get(), inbox.data(), sizeof inbox, IBV_ACCESS_LOCAL_WRITE))};
    const rdma::Mr state_mr{CHECK_PTR(
        ibv_reg_mr(pd.get(), state.bytes.data(), state.bytes.size(), IBV_ACCESS_REMOTE_READ))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(port.context.get(), slots, nullptr, nullptr, 0))};
    ibv_qp_init_attr init{
        .send_cq = cq.get(),
        .recv_cq = cq.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = slots, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp(pd.get(), &init))};

    // 2. Connect as in lesson 06. Each connection has a new queue pair and a new random first PSN.
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    net::Endpoint mine{.qpn = qp->qp_num,
                       .psn = lesson07::random_psn(),
                       .lid = port.lid,
                       .path_mtu = port.path_mtu,
                       .va = reinterpret_cast<std::uintptr_t>(state.bytes.data()),
                       .length = state.bytes.size(),
                       .rkey = state_mr->rkey};
    std::memcpy(mine.gid.data(), port.gid.raw, mine.gid.size());
    net::send_endpoint(channel, mine, limit);
    lesson06::to_init(qp.get(), port, IBV_ACCESS_REMOTE_READ);
    for (std::uint64_t slot = 0; slot < slots; ++slot)
        post_receive(qp.get(), slot, *inbox_mr);
    lesson06::to_rtr(qp.get(), port, theirs);
    lesson06::to_rts(qp.get(), mine.psn);
    net::barrier(channel, limit);

    // 3. Apply each message once, in numerical order.
    for (std::uint64_t taken = 0; taken < options.break_after && !stop.requested();) {
        const auto wc = common::next_completion(cq.get(), stop,
                                                util::deadline_in(std::chrono::milliseconds(50)));
        if (!wc && net::discard_input(channel.socket()))
            return;  // the client has closed its connection
        if (!wc)
            continue;
        if (wc->status != IBV_WC_SUCCESS)
            throw util::Error("a receive failed: " + std::string(rdma::name_of(wc->status)));
        const auto message = lesson12::Message::parse(inbox.at(wc->wr_id));
        if (message.sequence != state.applied.sequence + 1)
            throw util::Error("message " + std::to_string(message.sequence) + " after " +
                              std::to_string(state.applied.sequence) + ".");
        state.applied = {.sequence = message.sequence,
                         .amount = state.applied.amount + message.amount};
        state.bytes = state.applied.serialize();
        post_receive(qp.get(), wc->wr_id, *inbox_mr);
        ++taken;
    }

    // 4. Break the connection: in ERR the queue pair does not respond. Messages that the device has
    // acknowledged but this loop has not taken are lost.
    log.note("breaks the connection: " + std::to_string(state.applied.sequence) +
             " messages applied, sum " + std::to_string(state.applied.amount));
    ibv_qp_attr attr{.qp_state = IBV_QPS_ERR};
    util::check_rc(ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE), "ibv_modify_qp(to ERR)");
    while (!net::discard_input(channel.socket()) &&
           util::wait_readable(channel.socket().fd.get(), stop, util::deadline_in(exchange_time)) ==
               util::Ready::input) {
    }
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    State state;
    common::serve_each(options.server.address(), log, stop, [&](net::Socket socket) {
        net::TcpChannel channel(std::move(socket));
        serve(channel, options, state, log, stop);
    });
    log.note(std::to_string(state.applied.sequence) + " messages applied, sum " +
             std::to_string(state.applied.amount));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Lesson 12, server: applies messages once, over connections that break.");
    Options options;
    command_line.add(options.server);
    command_line.number("--break-after", options.break_after, 1, 1'000'000,
                        "Break each connection after this many messages");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}

// Lesson 11, the client: posts half of its messages with ibv_post_send and half with ibv_wr_*. Only
// the last one requests an event at the server.
#include <string>
#include <vector>

#include "connect.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/request.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/completion.hpp"
#include "util/check.hpp"

namespace {

// The old way: fill in a struct and post it.
void send_by_post(ibv_qp* qp, std::uint64_t wr_id, const ibv_mr& mr, unsigned flags) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(mr.addr),
                .length = static_cast<std::uint32_t>(mr.length),
                .lkey = mr.lkey};
    ibv_send_wr wr{.wr_id = wr_id,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = IBV_WR_SEND,
                   .send_flags = IBV_SEND_SIGNALED | flags};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));
}

// The new way: one call for each part of the request, directly into the send queue. There may be many requests between
// start and complete; the device sees none before complete.
void send_by_wr(ibv_qp_ex* qp, std::uint64_t wr_id, const ibv_mr& mr, unsigned flags) {
    ibv_wr_start(qp);
    qp->wr_id = wr_id;
    qp->wr_flags = IBV_SEND_SIGNALED | flags;
    ibv_wr_send(qp);
    ibv_wr_set_sge(qp, mr.lkey, reinterpret_cast<std::uintptr_t>(mr.addr),
                   static_cast<std::uint32_t>(mr.length));
    CHECK_RC(ibv_wr_complete(qp));
}

int run(const common::ClientOptions& options, runlog::Log& log, util::StopSignal& stop) {
    const net::TimeLimit limit{stop, util::deadline_in(options.timeout)};
    const util::Address server = options.resolve_server();
    net::TcpChannel channel(
        net::connect_tcp(server, options.local.resolve(0, server.is_ipv6()), limit));

    // 1. A queue pair that supports SEND with ibv_wr_*: this must be requested at creation.
    const lesson06::Port port = lesson06::open_port(channel.socket().local());
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    std::vector<std::byte> bytes = common::pattern(lesson11::message_size, "Wake up? ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(pd.get(), bytes.data(), bytes.size(), 0))};
    const rdma::Cq cq{
        CHECK_PTR(ibv_create_cq(port.context.get(), lesson11::messages, nullptr, nullptr, 0))};
    ibv_qp_init_attr_ex init{.send_cq = cq.get(),
                             .recv_cq = cq.get(),
                             .cap = {.max_send_wr = lesson11::messages,
                                     .max_recv_wr = 1,
                                     .max_send_sge = 1,
                                     .max_recv_sge = 1},
                             .qp_type = IBV_QPT_RC,
                             .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                             .pd = pd.get(),
                             .send_ops_flags = IBV_QP_EX_WITH_SEND};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp_ex(port.context.get(), &init))};
    ibv_qp_ex* extended = ibv_qp_to_qp_ex(qp.get());
    lesson11::connect(channel, limit, qp.get(), port, 0xc23000, [] {});

    // Messages alternate between the two ways.
    std::uint64_t wr_id = 0;
    const auto send = [&](int i, unsigned flags) {
        if (i % 2 == 0)
            send_by_post(qp.get(), ++wr_id, *mr, flags);
        else
            send_by_wr(extended, ++wr_id, *mr, flags);
    };
    const auto await_one = [&] {
        rdma::expect_success(common::next_completion(cq.get(), stop, limit.deadline), "SEND");
    };

    // 2. Four messages, only the last one solicited: the server, which is armed for solicited
    // events only, wakes up once.
    for (int i = 0; i < lesson11::messages; ++i)
        send(i, i + 1 == lesson11::messages ? IBV_SEND_SOLICITED : 0);
    for (int i = 0; i < lesson11::messages; ++i)
        await_one();
    net::barrier(channel, limit);

    // 3. Four more, unsolicited, to a server that is armed for all events. Send each one after the
    // server has rearmed.
    for (int i = 0; i < lesson11::messages; ++i) {
        net::barrier(channel, limit);
        send(i, 0);
        await_one();
    }
    net::barrier(channel, limit);
    log.note(std::to_string(wr_id) + " messages sent, half by ibv_post_send and half by ibv_wr_*");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Lesson 11, client: sends solicited messages, by ibv_post_send and by ibv_wr_*.");
    common::ClientOptions options;
    command_line.add(options);
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}

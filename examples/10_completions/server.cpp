// Lesson 10, the server: runs the parts that the client requests. In most parts it only exposes
// memory.
#include <vector>

#include "credit_receiver.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "inline_data.hpp"
#include "overrun_responder.hpp"

namespace {

using lesson10::Ask;
using lesson10::Side;
using lesson10::Task;

constexpr std::chrono::milliseconds time_limit{10'000};

void expose(const Side& side) {
    std::vector<std::byte> memory(4096);
    const rdma::Mr mr{CHECK_PTR(
        ibv_reg_mr(side.pd, memory.data(), memory.size(),
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context(), 1, nullptr, nullptr, 0))};
    ibv_qp_cap cap{.max_send_wr = 1,
                   .max_recv_wr = 1,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = 0};
    const rdma::Qp qp = make_qp(side, cq.get(), cap);
    connect(side, qp.get(), {}, mr.get());
    side.barrier();
    side.last_barrier();
    side.log.event("memory", common::describe_memory(memory));
}

// Part 3: posts each receive after the client has overwritten its buffer.
void receive_late(const Side& side, const Ask& ask) {
    std::vector<std::byte> bytes(lesson10::inline_message_size);
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(),
                                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context(), 2, nullptr, nullptr, 0))};
    ibv_qp_cap cap{.max_send_wr = 1,
                   .max_recv_wr = 1,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = 0};
    const rdma::Qp qp = make_qp(side, cq.get(), cap);
    connect(side, qp.get(), {}, mr.get());
    side.barrier();
    for (std::uint64_t i = 0; i < ask.messages; ++i) {
        side.barrier();
        lesson10::post_receive(qp.get(), i, bytes, mr->lkey);
        rdma::expect_success(common::next_completion(cq.get(), side.stop, side.deadline()), "RECV");
        side.log.event("memory", common::describe_memory(bytes));
        side.barrier();
    }
    side.last_barrier();
}

void serve(const Side& side) {
    while (true) {
        const Ask ask = Ask::receive(side);
        switch (ask.task) {
            case Task::Expose:
                expose(side);
                break;
            case Task::ReceiveLate:
                receive_late(side, ask);
                break;
            case Task::Overrun:
                lesson10::be_overrun(side, ask);
                break;
            case Task::Receive:
            case Task::GiveCredits:
                lesson10::receive_messages(side, ask);
                break;
            case Task::Done:
                side.barrier();
                return;
        }
    }
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    common::serve_each(options.address(), log, stop, [&](net::Socket socket) {
        net::TcpChannel channel(std::move(socket));
        const lesson06::Port port = lesson06::open_port(channel.socket().local());
        const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
        serve({channel, port, pd.get(), 0x5e2000, log, stop, time_limit});
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server",
        "Lesson 10, server: exposes memory; on request, receives too much or too slowly.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}

// Lesson 20, the server: memory and receives for one operation at a time; reports their final
// contents.
#include <thread>

#include "examples/common/rc_end.hpp"
#include "examples/common/tracer.hpp"
#include "util/check.hpp"
#include "work.hpp"

namespace {

using lesson20::Operation;
using lesson20::Plan;

// 1. Posts a receive for each message: the Nth message fills the Nth part of the memory.
void post_receives(ibv_qp* qp, const ibv_mr& mr, const Plan& plan) {
    for (std::uint64_t number = 0; number < plan.messages; ++number) {
        ibv_sge sge = lesson20::sge_of(mr, plan, number);
        ibv_recv_wr wr{.wr_id = number + 1};
        if (plan.operation == Operation::Send) {
            wr.sg_list = &sge;
            wr.num_sge = 1;
        }
        ibv_recv_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_recv(qp, &wr, &bad_wr));
    }
}

// 2. Counts the received messages after the client is done. A duplicate must not be received twice.
std::uint32_t take_receives(const common::RcSide& side, rdma::CompletionQueue& completions) {
    std::uint32_t received = 0;
    const auto until = util::deadline_in(std::chrono::milliseconds(20));
    while (const auto wc = completions.next(side.stop, until))
        received += wc->status == IBV_WC_SUCCESS ? 1 : 0;
    return received;
}

void expose(const common::RcSide& side, const Plan& plan) {
    const bool is_read = plan.operation == Operation::Read;
    std::vector<std::byte> memory =
        is_read ? common::unlike_bytes(plan.memory()) : std::vector<std::byte>(plan.memory());
    const rdma::Mr mr{
        CHECK_PTR(ibv_reg_mr(side.pd, memory.data(), memory.size(), lesson20::all_rights))};
    rdma::CompletionQueue completions(side.context, static_cast<int>(plan.messages) + 1);
    const common::RcConnection link(side, {.cq = completions.cq.get(),
                                           .first_psn = 0x5e1900,
                                           .max_recv_wr = static_cast<std::uint32_t>(plan.messages),
                                           .access = lesson20::all_rights,
                                           .reads = lesson20::reads_at_once,
                                           .exposed = mr.get()});
    if (plan.takes_receives() && plan.late_ms == 0)
        post_receives(link.qp(), *mr, plan);
    side.barrier();
    if (plan.takes_receives() && plan.late_ms != 0) {
        // This delay is requested by the client.
        std::this_thread::sleep_for(std::chrono::milliseconds(plan.late_ms));
        post_receives(link.qp(), *mr, plan);
    }
    side.barrier_without_limit();
    const std::uint32_t received = plan.takes_receives() ? take_receives(side, completions) : 0;
    side.log.event("memory", common::describe_memory(memory));
    std::uint64_t word = 0;
    if (plan.operation == Operation::FetchAdd)
        std::memcpy(&word, memory.data(), sizeof word);
    lesson20::Found{common::crc_of(memory), received, word}.send(side.channel, side.limit());
}

void serve(const common::RcSide& side) {
    while (true) {
        const Plan plan = Plan::receive(side.channel, {side.stop, std::nullopt});
        if (plan.operation == Operation::Done)
            return side.barrier();
        expose(side, plan);
    }
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Lesson 20, server: provides memory and receives for each operation in turn.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv, common::traced([&](auto& log, auto& stop) {
                                 common::serve_rc_clients(options.address(), log, stop, serve);
                                 return 0;
                             }));
}

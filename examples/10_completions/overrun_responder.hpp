// Lesson 10, part 4: a completion queue of the responder that is too small. The client sends more
// messages than the server's queue holds.
#pragma once

#include <fmt/format.h>

#include "overrun.hpp"

namespace lesson10 {

/// The client.
inline void overrun_their_queue(const Side& side) {
    // 1. A connection that fails early: a timeout of 0.27 s, and two retries.
    constexpr std::uint32_t messages = 12;
    Ask{.task = Task::Overrun, .receives = messages, .messages = messages}.send(side);
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context(), messages, nullptr, nullptr, 0))};
    std::vector<std::byte> bytes = common::pattern(64, "Too many. ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(), 0))};
    ibv_qp_cap cap{.max_send_wr = messages,
                   .max_recv_wr = 1,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = 0};
    const rdma::Qp qp = make_qp(side, cq.get(), cap);
    connect(side, qp.get(), {.timeout = 16, .retry_cnt = 2});
    side.barrier();

    // 2. All messages, and their completions: SUCCESS for acknowledged ones.
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
                .length = static_cast<std::uint32_t>(bytes.size()),
                .lkey = mr->lkey};
    for (std::uint64_t wr_id = 1; wr_id <= messages; ++wr_id) {
        ibv_send_wr wr{};
        wr.wr_id = wr_id;
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(qp.get(), &wr, &bad_wr));
    }
    for (std::uint32_t i = 0; i < messages; ++i)
        if (!common::next_completion(cq.get(), side.stop, side.deadline()))
            throw util::Error("not all SENDs completed in time.");
    side.barrier();
}

/// The server.
inline void be_overrun(const Side& side, const Ask& ask) {
    // 1. One receive per message, and a completion queue for a third of them.
    const rdma::Cq cq{CHECK_PTR(
        ibv_create_cq(side.context(), static_cast<int>(ask.messages / 3), nullptr, nullptr, 0))};
    std::vector<std::byte> bytes(64);
    const rdma::Mr mr{
        CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(), IBV_ACCESS_LOCAL_WRITE))};
    ibv_qp_cap cap{.max_send_wr = 1,
                   .max_recv_wr = ask.receives,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = 0};
    const rdma::Qp qp = make_qp(side, cq.get(), cap);
    connect(side, qp.get());
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
                .length = static_cast<std::uint32_t>(bytes.size()),
                .lkey = mr->lkey};
    for (std::uint64_t i = 0; i < ask.receives; ++i) {
        ibv_recv_wr wr{};
        wr.wr_id = i;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        ibv_recv_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_recv(qp.get(), &wr, &bad_wr));
    }
    if (static_cast<std::uint32_t>(cq->cqe) >= ask.messages)
        side.log.note(fmt::format("{} entries are enough for {} messages: nothing is overrun here",
                                  cq->cqe, ask.messages));
    side.barrier();

    // 2. Do not poll before the device has reported the overrun.
    const std::size_t events = count_overruns(side);
    const std::string_view state = state_of(qp.get());
    const std::size_t polled = poll_all(cq.get());
    side.log.event("overrun", {{"queue", "the responder's"},
                               {"entries", cq->cqe},
                               {"requests", ask.messages},
                               {"events", events},
                               {"polled", polled},
                               {"lost", ask.messages - polled},
                               {"state", state}});
    side.last_barrier();
}

}  // namespace lesson10

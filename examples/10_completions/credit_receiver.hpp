// Lesson 10, part 5, the server: does some work for each message, and then reposts its receive.
#pragma once

#include <vector>

#include "ask.hpp"
#include "credits.hpp"
#include "rdma/completion.hpp"

namespace lesson10 {

inline void receive_messages(const Side& side, const Ask& ask) {
    // 1. A connection. The client chooses the delay that this side's RNR NAKs request.
    std::vector<std::byte> bytes(ask.receives * message_size);
    const auto buffer = [&](std::uint64_t i) {
        return std::span(bytes).subspan(i * message_size, message_size);
    };
    const rdma::Mr mr{
        CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(), IBV_ACCESS_LOCAL_WRITE))};
    const rdma::Cq cq{CHECK_PTR(
        ibv_create_cq(side.context(), static_cast<int>(ask.receives) + 8, nullptr, nullptr, 0))};
    ibv_qp_cap cap{.max_send_wr = 8,
                   .max_recv_wr = ask.receives,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = credit_size};
    const rdma::Qp qp = make_qp(side, cq.get(), cap);
    connect(side, qp.get());
    ibv_qp_attr attributes{};
    attributes.min_rnr_timer = static_cast<std::uint8_t>(ask.rnr_timer);
    util::check_rc(ibv_modify_qp(qp.get(), &attributes, IBV_QP_MIN_RNR_TIMER),
                   "ibv_modify_qp(MIN_RNR_TIMER)");
    for (std::uint64_t i = 0; i < ask.receives; ++i)
        post_receive(qp.get(), i, buffer(i), mr->lkey);
    side.barrier();

    // 2. Receive, work, repost the receive. After half of the receives, return as many credits in
    // an inline message, which needs no registered buffer.
    std::uint32_t unannounced = 0;       // reposted receives that the sender does not know of yet
    std::uint32_t given = ask.receives;  // credits, including the sender's initial ones
    std::uint64_t wr_id = 1000;
    for (std::uint32_t received = 0; received < ask.messages;) {
        side.check_stop();
        const auto wc = rdma::expect_success(
            common::next_completion(cq.get(), side.stop, side.deadline()), "RECV");
        if (wc.opcode != IBV_WC_RECV)
            continue;
        ++received;
        static_cast<void>(util::wait_readable(
            side.stop.fd(), side.stop, util::deadline_in(std::chrono::milliseconds(ask.work_ms))));
        post_receive(qp.get(), wc.wr_id, buffer(wc.wr_id), mr->lkey);
        if (++unannounced < std::max(ask.receives / 2, 1U) || given >= ask.messages ||
            ask.task != Task::GiveCredits)
            continue;
        const auto message = credit_message(unannounced);
        ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(message.data()),
                    .length = credit_size,
                    .lkey = 0};
        ibv_send_wr wr{};
        wr.wr_id = ++wr_id;
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(qp.get(), &wr, &bad_wr));
        given += unannounced;
        unannounced = 0;
    }
    side.last_barrier();
}

}  // namespace lesson10

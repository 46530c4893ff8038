// Lesson 16, part 5: XRC, "extended reliable connection": RC without a queue pair for each pair of
// processes. A host has one receiving queue pair per sender, whatever its number of processes. Each
// message gives the shared receive queue, and so the process, that it is for.
//
// Not tested yet: Soft-RoCE does not support XRC. Written from ibv_open_xrcd(3),
// ibv_create_srq_ex(3), ibv_create_qp_ex(3) and IBTA volume 1, annex A14.
#pragma once

#include <fcntl.h>
#include <vector>

#include <fmt/format.h>

#include "messages.hpp"
#include "queue_pair.hpp"
#include "shared_queue.hpp"

namespace lesson16 {

constexpr std::size_t xrc_queues = 2;

inline bool has_xrc(const Side& side) {
    ibv_device_attr_ex attributes{};
    CHECK_RC(ibv_query_device_ex(side.context(), nullptr, &attributes));
    return (attributes.orig_attr.device_cap_flags & IBV_DEVICE_XRC) != 0;
}

inline std::string no_xrc(const Side& side) {
    return fmt::format(
        "{} does not have XRC (IBV_DEVICE_XRC is not among its capabilities): mlx5 devices do, "
        "Soft-RoCE does not.",
        ibv_get_device_name(side.context()->device));
}

/// The client: one queue pair, and a message for each of the server's receive queues.
inline void send_over_xrc(const Side& side) {
    send(side, Request{.part = Part::Xrc});

    // 1. A queue pair that only sends. Like RC, it belongs to a protection domain.
    const rdma::Cq cq = create_cq(side, xrc_queues);
    Slots slots(side, xrc_queues, 64, "For one of you. ", 0);
    ibv_qp_init_attr_ex attributes{.send_cq = cq.get(),
                                   .cap = {.max_send_wr = xrc_queues, .max_send_sge = 1},
                                   .qp_type = IBV_QPT_XRC_SEND,
                                   .comp_mask = IBV_QP_INIT_ATTR_PD,
                                   .pd = side.pd.get()};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp_ex(side.context(), &attributes))};
    send_endpoint(side, qp.get());
    connect(side, qp.get(), receive_endpoint(side));
    side.barrier();

    // 2. remote_srqn: the receive queue that the message is for.
    for (std::uint32_t number = 0; number < xrc_queues; ++number) {
        util::put_be32<0>(slots[number].first<4>(), number);
        ibv_sge sge = slots.sge(number);
        ibv_send_wr wr{.wr_id = number,
                       .sg_list = &sge,
                       .num_sge = 1,
                       .opcode = IBV_WR_SEND,
                       .send_flags = IBV_SEND_SIGNALED,
                       .qp_type = {.xrc = {.remote_srqn = receive_report(side).value}}};
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(qp.get(), &wr, &bad_wr));
        rdma::expect_success(next_completion(side, cq.get()), "a SEND");
    }
    side.barrier();
}

/// The server: two receive queues, as two processes would have them, in one XRC domain.
inline void receive_over_xrc(const Side& side) {
    if (!has_xrc(side))
        throw util::Error(no_xrc(side));

    // 1. The XRC domain. Processes that share a domain open the same file.
    ibv_xrcd_init_attr domain{.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
                              .fd = -1,  // not shared with other processes
                              .oflags = O_CREAT};
    const rdma::Xrcd xrcd{CHECK_PTR(ibv_open_xrcd(side.context(), &domain))};

    // 2. Receive queues in the domain, each with a number for the sender and one receive.
    const rdma::Cq cq = create_cq(side, xrc_queues);
    Slots slots(side, xrc_queues, 64, "", IBV_ACCESS_LOCAL_WRITE);
    std::vector<rdma::Srq> queues;
    std::vector<std::uint32_t> numbers(xrc_queues);
    for (std::size_t i = 0; i < xrc_queues; ++i) {
        ibv_srq_init_attr_ex attributes{
            .attr = {.max_wr = 1, .max_sge = 1},
            .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
                         IBV_SRQ_INIT_ATTR_CQ,
            .srq_type = IBV_SRQT_XRC,
            .pd = side.pd.get(),
            .xrcd = xrcd.get(),
            .cq = cq.get()};  // an XRC_RECV queue pair has no completion queue
        queues.emplace_back(CHECK_PTR(ibv_create_srq_ex(side.context(), &attributes)));
        CHECK_RC(ibv_get_srq_num(queues[i].get(), &numbers[i]));
        side.log.event("srq", {{"srqn", numbers[i]}, {"receives", 1}, {"limit", 0}});
        post_srq_recv(queues[i].get(), slots, i);
    }

    // 3. One queue pair for all messages of this sender. It has no queues of its own.
    ibv_qp_init_attr_ex attributes{
        .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd.get()};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp_ex(side.context(), &attributes))};
    send_endpoint(side, qp.get());
    connect(side, qp.get(), receive_endpoint(side));
    side.barrier();
    for (const std::uint32_t srqn : numbers)
        send(side, Report{.value = srqn});
    for (std::size_t i = 0; i < xrc_queues; ++i)
        rdma::expect_success(next_completion(side, cq.get()), "a receive");
    side.barrier_without_limit();
}

}  // namespace lesson16

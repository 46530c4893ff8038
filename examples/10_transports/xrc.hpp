// XRC: RC without a queue pair for each pair of processes. A host has one receiving queue pair for
// each sender, whatever number of processes it has; each message names the shared receive queue,
// and so the process, that it is for.
//
// Not run so far: Soft-RoCE does not have it. Written after ibv_open_xrcd(3), ibv_create_srq_ex(3),
// ibv_create_qp_ex(3) and IBTA volume 1, annex A14.
#pragma once

#include <fcntl.h>

#include "numbered.hpp"

namespace step10 {

inline bool has_xrc(const Side& side) {
    ibv_device_attr_ex attributes{};
    util::check_rc(ibv_query_device_ex(side.context(), nullptr, &attributes),
                   "ibv_query_device_ex");
    return (attributes.orig_attr.device_cap_flags & IBV_DEVICE_XRC) != 0;
}

inline std::string no_xrc(const Side& side) {
    return fmt::format(
        "{} does not have XRC (IBV_DEVICE_XRC is not among its capabilities): mlx5 devices do, "
        "Soft-RoCE does not.",
        ibv_get_device_name(side.context()->device));
}

constexpr std::size_t shared_xrc_queues = 2;

/// The client's end: one queue pair, and a message for each of the server's receive queues.
inline void send_over_xrc(const Side& side) {
    send(side, {.task = Task::SharedXrc});
    verbs::CompletionQueue completions(side.context(), shared_xrc_queues);
    Slots slots(side, shared_xrc_queues, 64, "For one of you. ", 0);
    Link link(side,
              {.type = IBV_QPT_XRC_SEND, .cq = completions.cq.get(), .sends = shared_xrc_queues});
    side.meet();
    for (std::uint32_t number = 0; number < shared_xrc_queues; ++number) {
        const std::uint32_t srqn = receive_report(side).number;
        ibv_send_wr wr = slots.numbered_send(number, number, 64);
        wr.qp_type.xrc.remote_srqn = srqn;
        link.post_send(wr);
        verbs::expect_success(next_completion(side, completions), "a SEND");
    }
    side.meet();
}

/// The server's end: two receive queues, as two processes would have them, in one XRC domain.
inline void receive_over_xrc(const Side& side) {
    if (!has_xrc(side))
        throw util::Error(no_xrc(side));
    ibv_xrcd_init_attr domain{};
    domain.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    domain.fd = -1;  // of this process alone; processes that share one open the same file
    domain.oflags = O_CREAT;
    const verbs::Xrcd xrcd{
        util::check_ptr(ibv_open_xrcd(side.context(), &domain), "ibv_open_xrcd")};
    verbs::CompletionQueue completions(side.context(), shared_xrc_queues);
    Slots slots(side, shared_xrc_queues, 64, "", IBV_ACCESS_LOCAL_WRITE);

    std::vector<verbs::Srq> queues;
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = 0; i < shared_xrc_queues; ++i) {
        ibv_srq_init_attr_ex attributes{};
        attributes.attr = {.max_wr = 1, .max_sge = 1, .srq_limit = 0};
        attributes.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
                               IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
        attributes.srq_type = IBV_SRQT_XRC;
        attributes.pd = side.pd.get();
        attributes.xrcd = xrcd.get();
        attributes.cq = completions.cq.get();  // a queue pair of XRC_RECV has none
        queues.emplace_back(
            util::check_ptr(ibv_create_srq_ex(side.context(), &attributes), "ibv_create_srq_ex"));
        std::uint32_t srqn = 0;
        util::check_rc(ibv_get_srq_num(queues.back().get(), &srqn), "ibv_get_srq_num");
        side.log.event("srq", {{"srqn", srqn}, {"receives", 1}, {"limit", 0}});
        numbers.push_back(srqn);
        ibv_recv_wr wr = slots.receive(i);
        ibv_recv_wr* refused = nullptr;
        util::check_rc(ibv_post_srq_recv(queues.back().get(), &wr, &refused), "ibv_post_srq_recv");
    }
    const Link link(side, {.type = IBV_QPT_XRC_RECV, .xrcd = xrcd.get()});
    side.meet();
    for (const std::uint32_t srqn : numbers)
        send(side, Report{.number = srqn});
    for (std::size_t i = 0; i < shared_xrc_queues; ++i)
        verbs::expect_success(next_completion(side, completions), "a receive");
    side.meet_at_last();
}

}  // namespace step10

// Lesson 16, part 4: a receive queue that several queue pairs share. Each message takes the next
// receive, on whichever queue pair it arrives. An event reports that few receives are left.
#pragma once

#include <array>
#include <numeric>
#include <vector>

#include "messages.hpp"
#include "queue_pair.hpp"

namespace lesson16 {

constexpr std::size_t sharers = 3;
constexpr std::uint32_t shared_receives = 10;
constexpr std::uint32_t shared_limit = 4;
/// Messages per queue pair in each round.
constexpr std::array<std::array<std::uint32_t, sharers>, 3> rounds{
    {{4, 1, 1}, {0, 0, 1}, {1, 6, 0}}};

/// `srq`: the server's; the client's queue pairs have none.
inline std::vector<rdma::Qp> connect_sharers(const Side& side, ibv_cq* cq, ibv_srq* srq) {
    std::vector<rdma::Qp> qps;
    for (std::size_t i = 0; i < sharers; ++i) {
        qps.push_back(
            create_qp(side, IBV_QPT_RC, cq, shared_receives, srq == nullptr ? 1 : 0, srq));
        send_endpoint(side, qps.back().get());
        connect(side, qps.back().get(), receive_endpoint(side));
    }
    return qps;
}

/// The client: three connections, one of them busier than the others.
inline void send_to_shared_queue(const Side& side) {
    send(side, Request{.part = Part::SharedQueue});
    const rdma::Cq cq = create_cq(side, shared_receives);
    Slots slots(side, shared_receives, 64, "For whoever is next. ", 0);
    const std::vector<rdma::Qp> qps = connect_sharers(side, cq.get(), nullptr);
    std::uint32_t number = 0;
    for (const auto& round : rounds) {
        side.barrier();
        std::size_t slot = 0;
        for (std::size_t i = 0; i < sharers; ++i)
            for (std::uint32_t n = 0; n < round.at(i); ++n)
                post_send(qps[i].get(), slots, slot++, number++, 64);
        for (; slot > 0; --slot)
            rdma::expect_success(next_completion(side, cq.get()), "a SEND");
        side.barrier();
    }
    side.barrier();
}

inline void post_srq_recv(ibv_srq* srq, Slots& slots, std::size_t slot) {
    ibv_sge sge = slots.sge(slot);
    ibv_recv_wr wr{.wr_id = slot, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_srq_recv(srq, &wr, &bad_wr));
}

/// The event occurs once; then the limit is 0 until it is set again.
inline void arm_limit(ibv_srq* srq) {
    ibv_srq_attr attributes{.srq_limit = shared_limit};
    CHECK_RC(ibv_modify_srq(srq, &attributes, IBV_SRQ_LIMIT));
}

/// Returns true if the device's next event arrives in time and is IBV_EVENT_SRQ_LIMIT_REACHED.
inline bool limit_was_reached(const Side& side, std::chrono::milliseconds time) {
    if (util::wait_readable(side.context()->async_fd, side.stop, util::deadline_in(time)) !=
        util::Ready::input)
        return false;
    ibv_async_event event{};
    CHECK_ERRNO(ibv_get_async_event(side.context(), &event));
    const bool is_limit = event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
    ibv_ack_async_event(&event);  // ibv_destroy_srq waits for this
    return is_limit;
}

/// The server.
inline void receive_in_shared_queue(const Side& side) {
    // 1. The shared receive queue with ten receives, and three queue pairs without their own.
    const rdma::Cq cq = create_cq(side, std::size_t{2} * shared_receives);
    ibv_srq_init_attr attributes{.attr = {.max_wr = shared_receives, .max_sge = 1}};
    const rdma::Srq srq{CHECK_PTR(ibv_create_srq(side.pd.get(), &attributes))};
    Slots slots(side, shared_receives, 64, "", IBV_ACCESS_LOCAL_WRITE);
    for (std::size_t i = 0; i < shared_receives; ++i)
        post_srq_recv(srq.get(), slots, i);
    arm_limit(srq.get());
    const std::vector<rdma::Qp> qps = connect_sharers(side, cq.get(), srq.get());

    // 2. Each message takes the next receive.
    std::vector<std::size_t> taken;
    for (const auto& round : rounds) {
        side.barrier();
        side.barrier_without_limit();
        for (auto left = std::accumulate(round.begin(), round.end(), 0U); left > 0; --left) {
            const ibv_wc wc = rdma::expect_success(next_completion(side, cq.get()), "a receive");
            side.log.event(
                "taken",
                {{"wr_id", wc.wr_id}, {"qpn", wc.qp_num}, {"number", number_at(slots[wc.wr_id])}});
            taken.push_back(wc.wr_id);
        }

        // 3. Below the limit the event must occur, perhaps with a delay; above it, it must not.
        // Post new receives and set the limit again.
        const bool is_low = shared_receives - taken.size() < shared_limit;
        if (!limit_was_reached(side, is_low ? side.timeout : std::chrono::milliseconds(0)))
            continue;
        for (const std::size_t slot : taken)
            post_srq_recv(srq.get(), slots, slot);
        taken.clear();
        arm_limit(srq.get());
    }
    side.barrier();
}

}  // namespace lesson16

// Lesson 10, part 2: a full send queue, and when its slots become free.
#pragma once

#include <cerrno>
#include <cstring>
#include <vector>

#include "ask.hpp"
#include "examples/common/memory.hpp"
#include "rdma/completion.hpp"

namespace lesson10 {

inline void fill_the_queue(const Side& side) {
    // 1. A connection with a send queue of at least 16 slots.
    constexpr std::uint32_t asked = 16;
    Ask{.task = Task::Expose}.send(side);
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context(), 1, nullptr, nullptr, 0))};
    std::vector<std::byte> bytes = common::pattern(64, "Full. ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(), 0))};
    ibv_qp_cap cap{.max_send_wr = asked,
                   .max_recv_wr = 1,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = 0};
    const rdma::Qp qp = make_qp(side, cq.get(), cap);
    const common::RemoteMemory remote = connect(side, qp.get());
    side.barrier();
    side.log.event("send_queue", {{"asked", asked}, {"slots", cap.max_send_wr}});

    // 2. Four times as many unsignalled requests in one list, so that no ACK arrives in between.
    // bad_wr is the first request that was rejected.
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
                .length = static_cast<std::uint32_t>(bytes.size()),
                .lkey = mr->lkey};
    std::vector<ibv_send_wr> list(std::size_t{4} * cap.max_send_wr);
    for (std::size_t i = 0; i < list.size(); ++i) {
        list[i] = write_request(i + 1, sge, remote, 0);
        list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
    }
    ibv_send_wr* bad_wr = nullptr;
    const int error = ibv_post_send(qp.get(), list.data(), &bad_wr);
    const std::size_t taken = error == 0 ? list.size() : bad_wr->wr_id - 1;
    side.log.event("send_queue", {{"list", list.size()},
                                  {"taken", taken},
                                  {"error", error == 0 ? "none" : strerrorname_np(error)}});

    // 3. One more, signalled. There is no completion to poll that reports the ACKs: the program
    // retries for two seconds until the request is accepted.
    ibv_send_wr more = write_request(taken + 1, sge, remote, IBV_SEND_SIGNALED);
    const util::Deadline deadline = util::deadline_in(std::chrono::seconds(2));
    int later = 0;
    do {
        static_cast<void>(util::wait_readable(side.stop.fd(), side.stop,
                                              util::deadline_in(std::chrono::milliseconds(10))));
        later = ibv_post_send(qp.get(), &more, &bad_wr);
    } while (later == ENOMEM && !util::is_past(deadline) && !side.stop.requested());
    side.log.event("send_queue",
                   {{"polled", 0}, {"later", later == 0 ? "taken" : strerrorname_np(later)}});
    if (later == 0)  // otherwise the queue stays full: no completion will free a slot
        rdma::expect_success(common::next_completion(cq.get(), side.stop, side.deadline()),
                             "RDMA_WRITE");
    side.barrier();
}

}  // namespace lesson10

// Lesson 10, part 1: how a sleeping program misses a completion, and how to avoid that.
#pragma once

#include <vector>

#include <fmt/format.h>

#include "ask.hpp"
#include "events.hpp"
#include "examples/common/memory.hpp"
#include "rdma/completion.hpp"

namespace lesson10 {

inline void miss_a_wake_up(const Side& side) {
    // 1. A completion queue with an event channel, and a connection.
    Ask{.task = Task::Expose}.send(side);
    const rdma::CompChannel channel{CHECK_PTR(ibv_create_comp_channel(side.context()))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context(), 4, nullptr, channel.get(), 0))};
    std::vector<std::byte> bytes = common::pattern(64, "Ping. ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(), 0))};
    ibv_qp_cap cap{.max_send_wr = 2,
                   .max_recv_wr = 1,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = 0};
    const rdma::Qp qp = make_qp(side, cq.get(), cap);
    const common::RemoteMemory remote = connect(side, qp.get());
    side.barrier();

    Events events(cq.get(), channel.get(), side.stop);
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
                .length = static_cast<std::uint32_t>(bytes.size()),
                .lkey = mr->lkey};
    std::uint64_t wr_id = 0;
    // Polls an empty queue, posts a WRITE, and stays busy until it has completed.
    const auto poll_and_be_busy = [&](std::chrono::milliseconds time) {
        if (poll_once(cq.get()))
            throw util::Error("a completion arrived although no request was posted.");
        ibv_send_wr wr = write_request(++wr_id, sge, remote, IBV_SEND_SIGNALED);
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(qp.get(), &wr, &bad_wr));
        static_cast<void>(util::wait_readable(side.stop.fd(), side.stop, util::deadline_in(time)));
    };
    const auto log_outcome = [&](std::string_view order, std::string_view outcome) {
        side.log.event("wake_up", {{"order", order}, {"outcome", outcome}});
    };

    // 2. The wrong order: poll, arm, sleep. The busy time must be long enough for the completion to
    // arrive; if it was not, the next attempt doubles it.
    for (std::chrono::milliseconds busy{20}; busy < std::chrono::seconds(2); busy *= 2) {
        poll_and_be_busy(busy);
        events.arm();
        const bool was_woken = events.sleep(util::deadline_in(10 * busy));
        rdma::expect_success(events.next(side.deadline()), "RDMA_WRITE");
        log_outcome(
            "poll, arm, sleep",
            was_woken ? "woken: the completion arrived after arming"
                      : fmt::format("still asleep after {} ms, although the completion had arrived",
                                    10 * busy.count()));
        if (!was_woken)
            break;
    }

    // 3. The right order: poll, arm, poll again, and only then sleep.
    poll_and_be_busy(std::chrono::milliseconds(20));
    events.arm();
    const auto wc = poll_once(cq.get());
    log_outcome("poll, arm, poll, sleep", wc ? "the second poll has found the completion"
                                             : "no completion yet: it will cause an event");
    if (!wc)
        rdma::expect_success(events.next(side.deadline()), "RDMA_WRITE");
    side.barrier();
}

}  // namespace lesson10

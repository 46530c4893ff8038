// Lesson 10, part 4: a completion queue of the requester that is too small. According to
// ibv_poll_cq(3) "the CQ cannot be used" then. This measures what the device does.
#pragma once

#include <vector>

#include "ask.hpp"
#include "events.hpp"
#include "examples/common/memory.hpp"
#include "rdma/names.hpp"

namespace lesson10 {

/// Returns the number of events that report a completion queue overrun. Waits two seconds for the
/// first asynchronous event, and 0.2 s for each further one.
inline std::size_t count_overruns(const Side& side) {
    std::chrono::milliseconds time{2000};
    std::size_t overruns = 0;
    while (util::wait_readable(side.context()->async_fd, side.stop, util::deadline_in(time)) ==
           util::Ready::input) {
        ibv_async_event event{};
        CHECK_ERRNO(ibv_get_async_event(side.context(), &event));
        overruns += event.event_type == IBV_EVENT_CQ_ERR;
        ibv_ack_async_event(&event);  // ibv_destroy_cq waits for it
        time = std::chrono::milliseconds(200);
    }
    return overruns;
}

inline std::size_t poll_all(ibv_cq* cq) {
    std::size_t polled = 0;
    while (poll_once(cq))
        ++polled;
    return polled;
}

inline std::string_view state_of(ibv_qp* qp) {
    ibv_qp_attr attributes{};
    ibv_qp_init_attr unused{};
    CHECK_RC(ibv_query_qp(qp, &attributes, IBV_QP_STATE, &unused));
    return rdma::name_of(attributes.qp_state);
}

inline void overrun_own_queue(const Side& side) {
    // 1. A completion queue of at least 4 entries, and a send queue with room for three more
    // requests.
    Ask{.task = Task::Expose}.send(side);
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context(), 4, nullptr, nullptr, 0))};
    const int writes = cq->cqe + 3;
    std::vector<std::byte> bytes = common::pattern(64, "Too many. ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(), 0))};
    ibv_qp_cap cap{.max_send_wr = static_cast<std::uint32_t>(writes) + 1,
                   .max_recv_wr = 1,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = 0};
    const rdma::Qp qp = make_qp(side, cq.get(), cap);
    const common::RemoteMemory remote = connect(side, qp.get());
    side.barrier();

    // 2. Three signalled WRITEs more than the queue holds, without polling.
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
                .length = static_cast<std::uint32_t>(bytes.size()),
                .lkey = mr->lkey};
    const auto post = [&](int wr_id) {
        ibv_send_wr wr =
            write_request(static_cast<std::uint64_t>(wr_id), sge, remote, IBV_SEND_SIGNALED);
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(qp.get(), &wr, &bad_wr));
    };
    for (int i = 1; i <= writes; ++i)
        post(i);
    const std::size_t events = count_overruns(side);
    const std::size_t polled = poll_all(cq.get());

    // 3. Test whether the queue still works.
    post(writes + 1);
    const auto wc = common::next_completion(cq.get(), side.stop, side.deadline());
    side.log.event("overrun", {{"queue", "the requester's"},
                               {"entries", cq->cqe},
                               {"requests", writes},
                               {"events", events},
                               {"polled", polled},
                               {"lost", static_cast<std::size_t>(writes) - polled},
                               {"state", state_of(qp.get())},
                               {"next", wc ? rdma::name_of(wc->status) : "no completion"}});
    side.barrier();
}

}  // namespace lesson10

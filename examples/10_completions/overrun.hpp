// Lesson 10, part 4: a completion queue that is too small. According to ibv_poll_cq(3) "the CQ cannot
// be used" then. This measures what the device does.
#pragma once

#include <vector>

#include <fmt/format.h>

#include "ask.hpp"
#include "events.hpp"
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

/// The client: its own completion queue is too small.
inline void overrun_own_queue(const Side& side) {
    Ask{.task = Task::Expose}.send(side);
    Connection to(side, {.cqe = 4, .max_send_wr = 64}, common::pattern(64, "Too many. "));
    side.barrier();

    // 1. Three signalled WRITEs more than the queue holds, without polling.
    const auto writes = static_cast<std::uint64_t>(to.cq->cqe) + 3;
    const auto post = [&](std::uint64_t wr_id) {
        ibv_send_wr wr = to.write(wr_id, IBV_SEND_SIGNALED);
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(to.qp.get(), &wr, &bad_wr));
    };
    for (std::uint64_t wr_id = 1; wr_id <= writes; ++wr_id)
        post(wr_id);
    const std::size_t events = count_overruns(side);
    const std::size_t polled = poll_all(to.cq.get());

    // 2. Does the queue still work?
    post(writes + 1);
    const auto wc = common::next_completion(to.cq.get(), side.stop, side.deadline());
    side.log.event("overrun", {{"queue", "the requester's"},
                               {"entries", to.cq->cqe},
                               {"requests", writes},
                               {"events", events},
                               {"polled", polled},
                               {"lost", writes - polled},
                               {"state", state_of(to.qp.get())},
                               {"next", wc ? rdma::name_of(wc->status) : "no completion"}});
    side.barrier();
}

/// The client: sends more messages than the server's completion queue holds. The connection fails
/// early: a timeout of 0.27 s, and two retries.
inline void overrun_their_queue(const Side& side) {
    constexpr std::uint32_t messages = 12;
    Ask{.task = Task::Overrun, .receives = messages, .messages = messages}.send(side);
    Connection to(
        side,
        {.cqe = messages, .max_send_wr = messages, .retries = {.timeout = 16, .retry_cnt = 2}},
        common::pattern(64, "Too many. "));
    side.barrier();
    for (std::uint64_t wr_id = 1; wr_id <= messages; ++wr_id) {
        ibv_send_wr wr{.wr_id = wr_id,
                       .sg_list = &to.all,
                       .num_sge = 1,
                       .opcode = IBV_WR_SEND,
                       .send_flags = IBV_SEND_SIGNALED};
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(to.qp.get(), &wr, &bad_wr));
    }
    for (std::uint32_t i = 0; i < messages; ++i)  // SUCCESS for acknowledged ones
        if (!common::next_completion(to.cq.get(), side.stop, side.deadline()))
            throw util::Error("not all SENDs completed in time.");
    side.barrier();
}

/// The server: one receive per message, and a completion queue for a third of them.
inline void be_overrun(const Side& side, const Ask& ask) {
    const int third = static_cast<int>(ask.messages / 3);
    Connection to(side, {.cqe = third, .max_recv_wr = ask.receives}, std::vector<std::byte>(64));
    for (std::uint64_t i = 0; i < ask.receives; ++i)
        to.post_receive(i, to.bytes);
    if (static_cast<std::uint32_t>(to.cq->cqe) >= ask.messages)
        side.log.note(fmt::format("{} entries are enough for {} messages: nothing is overrun here",
                                  to.cq->cqe, ask.messages));
    side.barrier();

    // Do not poll before the device has reported the overrun.
    const std::size_t events = count_overruns(side);
    const std::string_view state = state_of(to.qp.get());
    const std::size_t polled = poll_all(to.cq.get());
    side.log.event("overrun", {{"queue", "the responder's"},
                               {"entries", to.cq->cqe},
                               {"requests", ask.messages},
                               {"events", events},
                               {"polled", polled},
                               {"lost", ask.messages - polled},
                               {"state", state}});
    side.last_barrier();
}

}  // namespace lesson10

// Part 4: a completion queue that is too small. "The CQ cannot be used" then, says ibv_poll_cq(3).
// What this device does is measured here: for the requester's queue, and for the responder's.
#pragma once

#include <fmt/format.h>

#include "ask.hpp"
#include "examples/common/memory.hpp"
#include "recorder.hpp"
#include "verbs/completion.hpp"
#include "ways.hpp"

namespace step12 {

/// Takes what the device tells about a queue as a whole: the events that come within two seconds,
/// and behind each of them within a fifth of one. How many say that a queue was overrun?
inline std::size_t count_overruns(const Side& side) {
    std::chrono::milliseconds patience{2000};
    std::size_t overruns = 0;
    while (util::wait_readable(side.context()->async_fd, side.stop, util::deadline_in(patience)) ==
           util::Ready::input) {
        ibv_async_event event{};
        util::check_errno(ibv_get_async_event(side.context(), &event), "ibv_get_async_event");
        side.log.event("async", {{"type", verbs::name_of(event.event_type)}});
        overruns += event.event_type == IBV_EVENT_CQ_ERR;
        ibv_ack_async_event(&event);  // or ibv_destroy_cq waits for ever
        patience = std::chrono::milliseconds(200);
    }
    return overruns;
}

inline verbs::Cq make_small_cq(const Side& side, int asked) {
    verbs::Cq cq{util::check_ptr(ibv_create_cq(side.context(), asked, nullptr, nullptr, 0),
                                 "ibv_create_cq")};
    side.log.event("cq", {{"entries", cq->cqe}, {"asked", asked}});
    return cq;
}

inline std::vector<ibv_wc> poll_all(const Side& side, ibv_cq* cq) {
    std::vector<ibv_wc> all;
    while (const auto wc = poll_once(cq)) {
        side.log.event("wc", verbs::describe(*wc));
        all.push_back(*wc);
    }
    return all;
}

inline std::string_view state_of(ibv_qp* qp) {
    ibv_qp_attr attributes{};
    ibv_qp_init_attr unused{};
    util::check_rc(ibv_query_qp(qp, &attributes, IBV_QP_STATE, &unused), "ibv_query_qp");
    return verbs::name_of(attributes.qp_state);
}

// At the requester: signalled WRITEs that nobody polls.
inline void overrun_own_queue(const Side& side) {
    send(side, {.task = Task::Lend});
    constexpr int asked = 4;
    constexpr int too_many = 3;
    const verbs::Cq cq = make_small_cq(side, asked);
    const int writes = cq->cqe + too_many;
    std::vector<std::byte> bytes = common::pattern(64, "Too many. ");
    const verbs::Mr mr = verbs::register_memory(side.pd.get(), bytes, 0);
    Link link(side, {.send_cq = cq.get(),
                     .recv_cq = cq.get(),
                     .max_send_wr = static_cast<std::uint32_t>(writes) + 1});
    side.meet();
    ibv_sge piece = piece_of(bytes, mr->lkey);
    Recorder recorder(link, static_cast<std::size_t>(writes) + 2);
    std::uint64_t wr_id = 0;
    const auto post = [&] {
        ibv_send_wr wr =
            request(IBV_WR_RDMA_WRITE, ++wr_id, piece, IBV_SEND_SIGNALED, link.remote());
        recorder.post_send(wr);
    };
    for (int i = 0; i < writes; ++i)
        post();
    recorder.write();
    const std::size_t events = count_overruns(side);
    const auto polled = poll_all(side, cq.get());

    // Is it of any use now?
    post();
    const auto wc = Polling(cq.get(), side.stop).next(side.deadline());
    if (wc)
        recorder.completed(*wc);
    recorder.write();
    side.log.event("overrun", {{"queue", "the requester's"},
                               {"entries", cq->cqe},
                               {"requests", writes},
                               {"events", events},
                               {"polled", polled.size()},
                               {"lost", static_cast<std::size_t>(writes) - polled.size()},
                               {"state", state_of(link.qp())},
                               {"next", wc ? verbs::name_of(wc->status) : "no completion"}});
    side.meet();
}

// At the responder, seen from the requester: it sends more than the server's queue holds.
inline void overrun_their_queue(const Side& side) {
    constexpr std::uint32_t messages = 12;
    send(side, {.task = Task::Overrun, .receives = messages, .messages = messages});
    std::vector<std::byte> bytes = common::pattern(64, "Too many. ");
    const verbs::Mr mr = verbs::register_memory(side.pd.get(), bytes, 0);
    verbs::CompletionQueue completions(side.context(), messages);
    // 0.27 s for an answer, and two more tries.
    Link link(side, {.send_cq = completions.cq.get(),
                     .recv_cq = completions.cq.get(),
                     .max_send_wr = messages,
                     .repetition = {.timeout = 16, .count = 2}});
    side.meet();
    ibv_sge piece = piece_of(bytes, mr->lkey);
    Recorder recorder(link, messages);
    for (std::uint64_t wr_id = 1; wr_id <= messages; ++wr_id) {
        ibv_send_wr wr = request(IBV_WR_SEND, wr_id, piece, IBV_SEND_SIGNALED);
        recorder.post_send(wr);
    }
    recorder.write();
    for (std::uint32_t i = 0; i < messages; ++i) {
        const auto wc = completions.next(side.stop, side.deadline());
        if (!wc)
            throw util::Error("not all SENDs completed in time.");
        side.log.event("wc", verbs::describe(*wc));
    }
    side.meet();
}

// The server's end of it: it has a receive for each message, and a queue for a third of them.
inline void be_overrun(const Side& side, const Ask& ask) {
    const verbs::Cq cq = make_small_cq(side, static_cast<int>(ask.messages / 3));
    std::vector<std::byte> bytes(64);
    const verbs::Mr mr = verbs::register_memory(side.pd.get(), bytes, IBV_ACCESS_LOCAL_WRITE);
    Link link(side, {.send_cq = cq.get(), .recv_cq = cq.get(), .max_recv_wr = ask.receives});
    ibv_sge piece = piece_of(bytes, mr->lkey);
    for (std::uint64_t i = 0; i < ask.receives; ++i) {
        ibv_recv_wr wr = receive(i, piece);
        link.post_recv(wr);
    }
    if (static_cast<std::uint32_t>(cq->cqe) >= ask.messages)
        side.log.note(fmt::format("{} entries are enough for {} messages: nothing is overrun here",
                                  cq->cqe, ask.messages));
    side.meet();
    const std::size_t events = count_overruns(side);
    const std::string_view state = state_of(link.qp());
    const auto polled = poll_all(side, cq.get());
    side.log.event("overrun", {{"queue", "the responder's"},
                               {"entries", cq->cqe},
                               {"requests", ask.messages},
                               {"events", events},
                               {"polled", polled.size()},
                               {"lost", ask.messages - polled.size()},
                               {"state", state}});
    side.meet_at_last();
}

}  // namespace step12

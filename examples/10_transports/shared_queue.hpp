// A receive queue that several queue pairs share: whose message comes first takes the next receive.
// And the news that there are few left.
#pragma once

#include "numbered.hpp"

namespace step10 {

constexpr std::size_t sharers = 3;
constexpr std::uint32_t shared_receives = 10;
constexpr std::uint32_t shared_limit = 4;
/// By round: how many messages each of the queue pairs sends.
constexpr std::array<std::array<std::uint32_t, sharers>, 3> rounds{
    {{4, 1, 1}, {0, 0, 1}, {1, 6, 0}}};

inline std::uint32_t messages_of(const std::array<std::uint32_t, sharers>& round) {
    std::uint32_t all = 0;
    for (const std::uint32_t messages : round)
        all += messages;
    return all;
}

/// The client's end: three connections, one of them busier than the others.
inline void send_to_shared_queue(const Side& side) {
    send(side, {.task = Task::SharedQueue});
    verbs::CompletionQueue completions(side.context(), shared_receives);
    Slots slots(side, shared_receives, 64, "For whoever is next. ", 0);
    std::vector<std::unique_ptr<Link>> links;
    for (std::size_t i = 0; i < sharers; ++i)
        links.push_back(std::make_unique<Link>(
            side, Wanted{.cq = completions.cq.get(), .sends = shared_receives}));
    std::uint32_t number = 0;
    for (const auto& round : rounds) {
        side.meet();
        std::size_t slot = 0;
        for (std::size_t i = 0; i < sharers; ++i)
            for (std::uint32_t n = 0; n < round.at(i); ++n) {
                ibv_send_wr wr = slots.numbered_send(slot++, number++, 64);
                links[i]->post_send(wr);
            }
        for (; slot > 0; --slot)
            verbs::expect_success(next_completion(side, completions), "a SEND");
        side.meet();
    }
    side.meet();
}

/// Takes the event where one is there, or comes within the time.
inline bool limit_was_reached(const Side& side, std::chrono::milliseconds time) {
    if (util::wait_readable(side.context()->async_fd, side.stop, util::deadline_in(time)) !=
        util::Ready::input)
        return false;
    ibv_async_event event{};
    util::check_errno(ibv_get_async_event(side.context(), &event), "ibv_get_async_event");
    side.log.event("async", {{"type", verbs::name_of(event.event_type)}});
    const bool is_limit = event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
    ibv_ack_async_event(&event);  // or ibv_destroy_srq waits for ever
    return is_limit;
}

/// The server's end.
inline void receive_in_shared_queue(const Side& side) {
    verbs::CompletionQueue completions(side.context(), 2 * shared_receives);
    ibv_srq_init_attr attributes{};
    attributes.attr = {.max_wr = shared_receives, .max_sge = 1, .srq_limit = 0};
    const verbs::Srq srq{
        util::check_ptr(ibv_create_srq(side.pd.get(), &attributes), "ibv_create_srq")};
    Slots slots(side, shared_receives, 64, "", IBV_ACCESS_LOCAL_WRITE);
    const auto post = [&](std::size_t slot) {
        ibv_recv_wr wr = slots.receive(slot);
        ibv_recv_wr* refused = nullptr;
        util::check_rc(ibv_post_srq_recv(srq.get(), &wr, &refused), "ibv_post_srq_recv");
    };
    // The limit works once: when it was reached, it is 0 again.
    const auto arm = [&](std::size_t receives) {
        ibv_srq_attr limit{.max_wr = 0, .max_sge = 0, .srq_limit = shared_limit};
        util::check_rc(ibv_modify_srq(srq.get(), &limit, IBV_SRQ_LIMIT), "ibv_modify_srq");
        side.log.event("srq",
                       {{"queue_pairs", sharers}, {"receives", receives}, {"limit", shared_limit}});
    };
    for (std::size_t i = 0; i < shared_receives; ++i)
        post(i);
    arm(shared_receives);
    std::vector<std::unique_ptr<Link>> links;
    for (std::size_t i = 0; i < sharers; ++i)
        links.push_back(
            std::make_unique<Link>(side, Wanted{.cq = completions.cq.get(), .srq = srq.get()}));

    std::vector<std::size_t> taken;
    for (const auto& round : rounds) {
        side.meet();
        side.meet_at_last();
        for (std::uint32_t n = 0; n < messages_of(round); ++n) {
            const ibv_wc wc =
                verbs::expect_success(next_completion(side, completions), "a receive");
            side.log.event(
                "taken",
                {{"wr_id", wc.wr_id}, {"qpn", wc.qp_num}, {"number", number_at(slots[wc.wr_id])}});
            taken.push_back(wc.wr_id);
        }
        // Below the limit the event is certain, and may take its time; above there is none.
        const bool is_low = shared_receives - taken.size() < shared_limit;
        if (!limit_was_reached(side, is_low ? side.time : std::chrono::milliseconds(0)))
            continue;
        for (const std::size_t slot : taken)
            post(slot);
        taken.clear();
        arm(shared_receives);
    }
    side.meet();
}

}  // namespace step10

// Lesson 10, part 1: polling or events, and how a program can sleep although its completion is there.
#pragma once

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "ask.hpp"
#include "events.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/completion.hpp"
#include "util/thread_usage.hpp"

namespace lesson10 {

struct WaitingOptions {
    std::uint64_t pings = 100;
    std::uint64_t idle_ms = 50;
};

using Nanoseconds = std::chrono::nanoseconds;

/// By nearest rank.
inline std::int64_t percentile_us(std::vector<Nanoseconds>& all, std::size_t of_hundred) {
    const std::size_t rank = std::max<std::size_t>((all.size() * of_hundred + 99) / 100, 1);
    const auto nth = all.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::ranges::nth_element(all, nth);
    return nth->count() / 1000;
}

/// A ping: a WRITE, and the wait for its completion. `next` waits.
template <typename Next>
Nanoseconds ping(const Side& side, Connection& to, std::uint64_t wr_id, const Next& next) {
    ibv_send_wr wr = to.write(wr_id, IBV_SEND_SIGNALED);
    ibv_send_wr* bad_wr = nullptr;
    const auto began = util::Clock::now();
    CHECK_RC(ibv_post_send(to.qp.get(), &wr, &bad_wr));
    const auto wc = next(side.deadline());
    const auto took = util::Clock::now() - began;
    rdma::expect_success(wc, "RDMA_WRITE");
    return took;
}

/// Pings, and then waits without work.
template <typename Next>
void measure(const Side& side, Connection& to, std::string_view way, const WaitingOptions& options,
             const Next& next) {
    std::vector<Nanoseconds> latencies;
    util::ThreadUsage pings;
    while (latencies.size() < options.pings) {
        side.check_stop();
        common::HeldTrace held;  // the log is written after each hundred pings, not between them
        const auto before = util::ThreadUsage::now();
        do
            latencies.push_back(ping(side, to, latencies.size() + 1, next));
        while (latencies.size() < options.pings && latencies.size() % 100 != 0);
        pings += util::ThreadUsage::now() - before;
    }
    const auto before = util::ThreadUsage::now();
    if (next(util::deadline_in(std::chrono::milliseconds(options.idle_ms))))
        throw util::Error("a completion arrived although no request was posted.");
    const auto idle = util::ThreadUsage::now() - before;
    side.log.event("waiting",
                   {{"way", way},
                    {"pings", options.pings},
                    {"p50_us", percentile_us(latencies, 50)},
                    {"p99_us", percentile_us(latencies, 99)},
                    {"cpu_us", pings.cpu.count() / 1000 / static_cast<std::int64_t>(options.pings)},
                    {"sleeps", pings.sleeps},
                    {"idle_ms", options.idle_ms},
                    {"idle_cpu_us", idle.cpu.count() / 1000}});
}

inline void compare_waiting(const Side& side, const WaitingOptions& options) {
    Ask{.task = Task::Expose}.send(side);
    const rdma::CompChannel channel{CHECK_PTR(ibv_create_comp_channel(side.context()))};
    Connection to(side, {.cqe = 4, .channel = channel.get(), .max_send_wr = 2},
                  common::pattern(64, "Ping. "));
    side.barrier();

    measure(side, to, "polling", options, [&](util::Deadline deadline) {
        return next_by_polling(to.cq.get(), side.stop, deadline);
    });
    Events events(to.cq.get(), channel.get(), side.stop);
    measure(side, to, "events", options,
            [&](util::Deadline deadline) { return events.next(deadline); });
    side.barrier();
}

/// Polls an empty queue, posts a WRITE, and stays busy for a `time` in which it should complete.
inline void poll_and_be_busy(const Side& side, Connection& to, std::uint64_t wr_id,
                             std::chrono::milliseconds time) {
    if (poll_once(to.cq.get()))
        throw util::Error("a completion arrived although no request was posted.");
    ibv_send_wr wr = to.write(wr_id, IBV_SEND_SIGNALED);
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(to.qp.get(), &wr, &bad_wr));
    static_cast<void>(util::wait_readable(side.stop.fd(), side.stop, util::deadline_in(time)));
}

inline void miss_a_wake_up(const Side& side) {
    Ask{.task = Task::Expose}.send(side);
    const rdma::CompChannel channel{CHECK_PTR(ibv_create_comp_channel(side.context()))};
    Connection to(side, {.cqe = 4, .channel = channel.get(), .max_send_wr = 2},
                  common::pattern(64, "Ping. "));
    side.barrier();
    Events events(to.cq.get(), channel.get(), side.stop);
    std::uint64_t wr_id = 0;

    // 1. The wrong order: poll, arm, sleep. The busy time must be long enough for the completion to
    // arrive; if it was not, the next attempt doubles it.
    bool was_woken = true;
    for (std::chrono::milliseconds busy{20}; was_woken && busy < std::chrono::seconds(2);
         busy *= 2) {
        poll_and_be_busy(side, to, ++wr_id, busy);
        events.arm();
        was_woken = events.sleep(util::deadline_in(10 * busy));
        side.log.event(
            "wake_up",
            {{"order", "poll, arm, sleep"},
             {"outcome",
              was_woken
                  ? "woken: the completion arrived after arming"
                  : fmt::format("still asleep after {} ms, although the completion had arrived",
                                10 * busy.count())}});
        rdma::expect_success(events.next(side.deadline()), "RDMA_WRITE");
    }

    // 2. The right order: poll, arm, poll again, and only then sleep.
    poll_and_be_busy(side, to, ++wr_id, std::chrono::milliseconds(20));
    events.arm();
    const auto wc = poll_once(to.cq.get());
    side.log.event("wake_up", {{"order", "poll, arm, poll, sleep"},
                               {"outcome", wc ? "the second poll has found the completion"
                                              : "no completion yet: it will cause an event"}});
    if (!wc)
        rdma::expect_success(events.next(side.deadline()), "RDMA_WRITE");
    side.barrier();
}

}  // namespace lesson10

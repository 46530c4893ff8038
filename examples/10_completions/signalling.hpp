// Lesson 10, part 2: not every request needs a completion; and a full send queue.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "ask.hpp"
#include "events.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/completion.hpp"
#include "util/thread_usage.hpp"

namespace lesson10 {

constexpr std::uint32_t slots = 16;  // of the send queue, as requested

struct SignallingOptions {
    std::uint64_t writes = 96;
    std::uint64_t every = 16;
};

/// Posts `writes` WRITEs and waits until all have completed. Every `every`-th is signalled, and the
/// last one: otherwise nothing reports that all are done. Returns the number of completions.
inline std::int64_t write_all(const Side& side, Connection& to, Events& events,
                              std::uint64_t writes, std::uint64_t every) {
    std::int64_t completions = 0;
    std::uint64_t posted = 0;
    std::uint64_t done = 0;
    while (done < writes) {
        // A request holds its slot until its own or a later completion has been polled. mlx5 counts
        // like this (rdma-core, providers/mlx5/qp.c, mlx5_wq_overflow()); some devices free the
        // slot earlier.
        while (posted < writes && posted - done < to.cap.max_send_wr) {
            const bool is_signalled = ++posted % every == 0 || posted == writes;
            ibv_send_wr wr = to.write(posted, is_signalled ? unsigned{IBV_SEND_SIGNALED} : 0U);
            ibv_send_wr* bad_wr = nullptr;
            CHECK_RC(ibv_post_send(to.qp.get(), &wr, &bad_wr));
        }
        // A completion also reports all earlier requests.
        done = rdma::expect_success(events.next(side.deadline()), "RDMA_WRITE").wr_id;
        ++completions;
    }
    return completions;
}

inline void signal_some(const Side& side, const SignallingOptions& options) {
    Ask{.task = Task::Expose}.send(side);
    const rdma::CompChannel channel{CHECK_PTR(ibv_create_comp_channel(side.context()))};
    Connection to(side, {.cqe = 4 * slots, .channel = channel.get(), .max_send_wr = slots},
                  common::pattern(64, "Signal. "));
    side.barrier();
    if (options.every > to.cap.max_send_wr)
        throw util::Error(
            fmt::format("--signal-every {}: the send queue has {} slots, and would be full before "
                        "the first completion. Choose a smaller number.",
                        options.every, to.cap.max_send_wr));

    Events events(to.cq.get(), channel.get(), side.stop);
    for (const std::uint64_t every : {std::uint64_t{1}, options.every}) {
        constexpr std::uint64_t most_held = 320;
        std::int64_t completions = 0;
        util::ThreadUsage used;
        for (std::uint64_t done = 0; done < options.writes; done += most_held) {
            side.check_stop();
            common::HeldTrace held;  // the log is written after so many WRITEs, not between them
            const auto before = util::ThreadUsage::now();
            completions +=
                write_all(side, to, events, std::min(most_held, options.writes - done), every);
            used += util::ThreadUsage::now() - before;
        }
        side.log.event("signalling", {{"every", every},
                                      {"writes", options.writes},
                                      {"completions", completions},
                                      {"cpu_us", used.cpu.count() / 1000 /
                                                     static_cast<std::int64_t>(options.writes)}});
    }
    side.barrier();
}

inline void fill_the_queue(const Side& side) {
    Ask{.task = Task::Expose}.send(side);
    Connection to(side, {.cqe = 1, .max_send_wr = slots}, common::pattern(64, "Full. "));
    side.barrier();
    side.log.event("send_queue", {{"asked", slots}, {"slots", to.cap.max_send_wr}});

    // 1. Four times as many unsignalled requests in one list, so that no ACK arrives in between.
    // bad_wr is the first request that was rejected.
    std::vector<ibv_send_wr> list(std::size_t{4} * to.cap.max_send_wr);
    for (std::size_t i = 0; i < list.size(); ++i) {
        list[i] = to.write(i + 1, 0);
        list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
    }
    ibv_send_wr* bad_wr = nullptr;
    const int error = ibv_post_send(to.qp.get(), list.data(), &bad_wr);
    const std::size_t taken = error == 0 ? list.size() : bad_wr->wr_id - 1;
    side.log.event("send_queue", {{"list", list.size()},
                                  {"taken", taken},
                                  {"error", error == 0 ? "none" : strerrorname_np(error)}});

    // 2. One more, signalled. There is no completion to poll that reports the ACKs: the program
    // retries for two seconds until the request is accepted.
    ibv_send_wr more = to.write(taken + 1, IBV_SEND_SIGNALED);
    const util::Deadline deadline = util::deadline_in(std::chrono::seconds(2));
    int later = 0;
    do {
        static_cast<void>(util::wait_readable(side.stop.fd(), side.stop,
                                              util::deadline_in(std::chrono::milliseconds(10))));
        later = ibv_post_send(to.qp.get(), &more, &bad_wr);
    } while (later == ENOMEM && !util::is_past(deadline) && !side.stop.requested());
    side.log.event("send_queue",
                   {{"polled", 0}, {"later", later == 0 ? "taken" : strerrorname_np(later)}});
    if (later == 0)  // otherwise the queue stays full: no completion will free a slot
        rdma::expect_success(common::next_completion(to.cq.get(), side.stop, side.deadline()),
                             "RDMA_WRITE");
    side.barrier();
}

}  // namespace lesson10

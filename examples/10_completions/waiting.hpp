// Lesson 10, part 1: the cost of the two ways to wait.
#pragma once

#include <algorithm>
#include <vector>

#include "ask.hpp"
#include "events.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/completion.hpp"
#include "side_by_side.hpp"
#include "util/thread_usage.hpp"

namespace lesson10 {

struct WaitingOptions {
    std::uint64_t pings = 100;
    std::uint64_t idle_ms = 50;
};

struct WaitingCost {
    std::vector<std::chrono::nanoseconds> latencies;
    util::ThreadUsage pings;
    util::ThreadUsage idle;

    /// Microseconds, by nearest rank.
    std::int64_t percentile(std::size_t of_hundred) {
        const std::size_t rank =
            std::max<std::size_t>((latencies.size() * of_hundred + 99) / 100, 1);
        const auto nth = latencies.begin() + static_cast<std::ptrdiff_t>(rank - 1);
        std::ranges::nth_element(latencies, nth);
        return nth->count() / 1000;
    }
    std::int64_t cpu_us() const {
        return pings.cpu.count() / 1000 / static_cast<std::int64_t>(latencies.size());
    }
    std::int64_t idle_cpu_us() const { return idle.cpu.count() / 1000; }
};

inline void log_cost(const Side& side, std::string_view way, const WaitingOptions& options,
                     WaitingCost& cost) {
    side.log.event("waiting", {{"way", way},
                               {"pings", cost.latencies.size()},
                               {"p50_us", cost.percentile(50)},
                               {"p99_us", cost.percentile(99)},
                               {"cpu_us", cost.cpu_us()},
                               {"sleeps", cost.pings.sleeps},
                               {"idle_ms", options.idle_ms},
                               {"idle_cpu_us", cost.idle_cpu_us()}});
}

inline void compare_waiting(const Side& side, const WaitingOptions& options) {
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

    // 2. Pings: a WRITE and the wait for its completion. The two ways alternate every ten pings, so
    // that other load on the host affects both.
    Events events(cq.get(), channel.get(), side.stop);
    const auto by_polling = [&](util::Deadline deadline) {
        return next_by_polling(cq.get(), side.stop, deadline);
    };
    const auto by_events = [&](util::Deadline deadline) { return events.next(deadline); };
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
                .length = static_cast<std::uint32_t>(bytes.size()),
                .lkey = mr->lkey};
    std::uint64_t wr_id = 0;
    const auto ping = [&](const auto& next, std::uint64_t count, WaitingCost& cost) {
        const auto before = util::ThreadUsage::now();
        for (std::uint64_t i = 0; i < count; ++i) {
            ibv_send_wr wr = write_request(++wr_id, sge, remote, IBV_SEND_SIGNALED);
            ibv_send_wr* bad_wr = nullptr;
            const auto began = util::Clock::now();
            CHECK_RC(ibv_post_send(qp.get(), &wr, &bad_wr));
            const auto wc = next(side.deadline());
            cost.latencies.push_back(util::Clock::now() - began);
            rdma::expect_success(wc, "RDMA_WRITE");
        }
        cost.pings += util::ThreadUsage::now() - before;
    };
    constexpr std::uint64_t turn = 10;
    constexpr std::uint64_t turns_to_write = 10;
    WaitingCost polled;
    WaitingCost woken;
    {
        common::HeldTrace held;  // writing and sending the log would take CPU time from the pings
        for (std::uint64_t done = 0; done < options.pings; done += turn) {
            side.check_stop();
            if (done % (turn * turns_to_write) == 0)
                held.write();
            ping(by_polling, std::min(turn, options.pings - done), polled);
            ping(by_events, std::min(turn, options.pings - done), woken);
        }
    }

    // 3. Wait without any completion.
    const auto idle = [&](const auto& next, WaitingCost& cost) {
        const auto before = util::ThreadUsage::now();
        if (next(util::deadline_in(std::chrono::milliseconds(options.idle_ms))))
            throw util::Error("a completion arrived although no request was posted.");
        cost.idle += util::ThreadUsage::now() - before;
    };
    idle(by_polling, polled);
    idle(by_events, woken);

    // 4. The results.
    log_cost(side, "polling", options, polled);
    log_cost(side, "events", options, woken);
    SideBySide table(side.log, "", "polling", "events");
    table.row("a WRITE to its completion, p50, µs", polled.percentile(50), woken.percentile(50));
    table.row("a WRITE to its completion, p99, µs", polled.percentile(99), woken.percentile(99));
    table.row("CPU time for it, µs", polled.cpu_us(), woken.cpu_us());
    table.row(fmt::format("CPU time of {} idle ms, µs", options.idle_ms), polled.idle_cpu_us(),
              woken.idle_cpu_us());
    side.barrier();
}

}  // namespace lesson10

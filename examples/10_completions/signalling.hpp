// Lesson 10, part 2: not every request needs a completion. A successful completion also reports all
// earlier requests, and frees their slots in the send queue.
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

// A request holds its slot until its own or a later completion has been polled: a program may rely
// on no more. mlx5 counts like this (rdma-core, providers/mlx5/qp.c, mlx5_wq_overflow()); some
// devices free the slot earlier.
class SlotCount {
  public:
    explicit SlotCount(std::uint64_t slots) : slots_(slots) {}

    bool has_free() const { return posted_ - completed_ < slots_; }
    void posted() { ++posted_; }
    /// `wr_id`: the request's number, from 1.
    void completed(std::uint64_t wr_id) { completed_ = wr_id; }

  private:
    std::uint64_t slots_;
    std::uint64_t posted_ = 0;
    std::uint64_t completed_ = 0;
};

struct SignallingOptions {
    std::uint64_t writes = 96;
    std::uint64_t every = 16;
};

struct SignallingCost {
    std::int64_t completions = 0;
    util::ThreadUsage used;

    std::int64_t cpu_us(std::uint64_t writes) const {
        return used.cpu.count() / 1000 / static_cast<std::int64_t>(writes);
    }
};

inline void signal_some(const Side& side, const SignallingOptions& options) {
    // 1. A connection with a send queue of at least 16 slots.
    constexpr std::uint32_t slots = 16;
    Ask{.task = Task::Expose}.send(side);
    const rdma::CompChannel channel{CHECK_PTR(ibv_create_comp_channel(side.context()))};
    const rdma::Cq cq{
        CHECK_PTR(ibv_create_cq(side.context(), 4 * slots, nullptr, channel.get(), 0))};
    std::vector<std::byte> bytes = common::pattern(64, "Signal. ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(), 0))};
    ibv_qp_cap cap{.max_send_wr = slots,
                   .max_recv_wr = 1,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = 0};
    const rdma::Qp qp = make_qp(side, cq.get(), cap);
    const common::RemoteMemory remote = connect(side, qp.get());
    side.barrier();
    if (options.every > cap.max_send_wr)
        throw util::Error(
            fmt::format("--signal-every {}: the send queue has {} slots, and would be full before "
                        "the first completion. Choose a smaller number.",
                        options.every, cap.max_send_wr));

    // 2. WRITEs, of which every `every`-th is signalled, and the last one: otherwise nothing
    // reports that all are done.
    Events events(cq.get(), channel.get(), side.stop);
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
                .length = static_cast<std::uint32_t>(bytes.size()),
                .lkey = mr->lkey};
    const auto write = [&](std::uint64_t writes, std::uint64_t every, SignallingCost& cost) {
        SlotCount count(cap.max_send_wr);
        const auto before = util::ThreadUsage::now();
        std::uint64_t posted = 0;
        for (std::uint64_t done = 0; done < writes;) {
            while (posted < writes && count.has_free()) {
                const bool is_signalled = ++posted % every == 0 || posted == writes;
                ibv_send_wr wr = write_request(posted, sge, remote,
                                               is_signalled ? unsigned{IBV_SEND_SIGNALED} : 0U);
                ibv_send_wr* bad_wr = nullptr;
                CHECK_RC(ibv_post_send(qp.get(), &wr, &bad_wr));
                count.posted();
            }
            const auto wc = rdma::expect_success(events.next(side.deadline()), "RDMA_WRITE");
            ++cost.completions;
            count.completed(done = wc.wr_id);
        }
        cost.used += util::ThreadUsage::now() - before;
    };

    // 3. Alternate between all signalled and some signalled, as in part 1.
    constexpr std::uint64_t turn = 32;
    constexpr std::uint64_t turns_to_write = 10;
    SignallingCost all;
    SignallingCost some;
    {
        common::HeldTrace held;
        for (std::uint64_t done = 0; done < options.writes; done += turn) {
            side.check_stop();
            if (done % (turn * turns_to_write) == 0)
                held.write();
            write(std::min(turn, options.writes - done), 1, all);
            write(std::min(turn, options.writes - done), options.every, some);
        }
    }
    const auto log_cost = [&](std::uint64_t every, const SignallingCost& cost) {
        side.log.event("signalling", {{"every", every},
                                      {"writes", options.writes},
                                      {"completions", cost.completions},
                                      {"cpu_us", cost.cpu_us(options.writes)}});
    };
    log_cost(1, all);
    log_cost(options.every, some);
    SideBySide table(side.log, fmt::format("{} WRITEs, signalled:", options.writes), "all",
                     fmt::format("1 in {}", options.every));
    table.row("completions", all.completions, some.completions);
    table.row("CPU time a WRITE, µs", all.cpu_us(options.writes), some.cpu_us(options.writes));
    side.barrier();
}

}  // namespace lesson10

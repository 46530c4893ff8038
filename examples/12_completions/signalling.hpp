// Part 2: not every request needs a completion. One that succeeds tells of all before it; and the
// send queue's slots are counted by it, too.
#pragma once

#include <cerrno>
#include <cstring>

#include "ask.hpp"
#include "examples/common/memory.hpp"
#include "recorder.hpp"
#include "side_by_side.hpp"
#include "util/thread_usage.hpp"
#include "verbs/completion.hpp"
#include "ways.hpp"

namespace step12 {

// A request's slot is taken until a completion of it, or of one behind it, has been polled: that is
// all a program may rely on. mlx5 counts so (rdma-core, providers/mlx5/qp.c, mlx5_wq_overflow());
// some devices free it earlier.
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
    std::int64_t writes = 0;
    std::int64_t completions = 0;
    util::ThreadUsage used;

    std::int64_t cpu_us() const {
        return used.cpu.count() / 1000 / std::max<std::int64_t>(writes, 1);
    }
};

class Signalling {
  public:
    explicit Signalling(const Side& side) : side_(side) {
        side_.meet();
        side_.log.event("send_queue", {{"asked", asked}, {"slots", slots()}});
    }

    std::uint32_t slots() const { return link_.cap().max_send_wr; }

    void write(std::uint64_t writes, std::uint64_t every, SignallingCost& cost) {
        Events events(cq_.get(), channel_.get(), side_.stop);
        Recorder recorder(link_, 2 * writes);
        SlotCount count(slots());
        const auto before = util::ThreadUsage::now();
        std::uint64_t posted = 0;
        for (std::uint64_t done = 0; done < writes;) {
            while (posted < writes && count.has_free()) {
                // The last one, too: else nobody would know when all are done.
                const bool is_signalled = ++posted % every == 0 || posted == writes;
                ibv_send_wr wr =
                    request(IBV_WR_RDMA_WRITE, posted, piece_,
                            is_signalled ? unsigned{IBV_SEND_SIGNALED} : 0U, link_.remote());
                recorder.post_send(wr);
                count.posted();
            }
            const auto wc = verbs::expect_success(events.next(side_.deadline()), "RDMA_WRITE");
            recorder.completed(wc);
            ++cost.completions;
            count.completed(done = wc.wr_id);
        }
        cost.used += util::ThreadUsage::now() - before;
        cost.writes += static_cast<std::int64_t>(writes);
        recorder.write();
    }

    // More than there are slots, in one list, so that no ACK comes in between; none signalled.
    void fill() {
        std::vector<ibv_send_wr> list(std::size_t{4} * slots(),
                                      request(IBV_WR_RDMA_WRITE, 0, piece_, 0, link_.remote()));
        for (std::size_t i = 0; i < list.size(); ++i) {
            list[i].wr_id = i + 1;
            list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
        }
        Recorder recorder(link_, list.size());
        const std::int64_t posted_ns = runlog::now_ns();
        ibv_send_wr* refused = nullptr;
        const int error = ibv_post_send(link_.qp(), list.data(), &refused);
        recorder.posted(posted_ns, list.data(), error == 0 ? nullptr : refused);
        recorder.write();
        const std::size_t taken = error == 0 ? list.size() : refused->wr_id - 1;
        side_.log.event("send_queue", {{"list", list.size()},
                                       {"taken", taken},
                                       {"error", error == 0 ? "none" : strerrorname_np(error)}});

        // Nothing tells this program when the ACKs have come. So it tries, with nothing polled.
        ibv_send_wr more =
            request(IBV_WR_RDMA_WRITE, taken + 1, piece_, IBV_SEND_SIGNALED, link_.remote());
        const util::Deadline deadline = util::deadline_in(std::chrono::seconds(2));
        int later = 0;
        std::int64_t later_ns = 0;
        do {
            static_cast<void>(util::wait_readable(
                side_.stop.fd(), side_.stop, util::deadline_in(std::chrono::milliseconds(10))));
            later_ns = runlog::now_ns();
            later = ibv_post_send(link_.qp(), &more, &refused);
        } while (later == ENOMEM && !util::is_past(deadline) && !side_.stop.requested());
        side_.log.event("send_queue",
                        {{"polled", 0}, {"later", later == 0 ? "taken" : strerrorname_np(later)}});
        if (later != 0)
            return;  // full for ever: none of those in it will complete
        recorder.posted(later_ns, &more, nullptr);
        recorder.write();
        Events events(cq_.get(), channel_.get(), side_.stop);
        const auto wc = verbs::expect_success(events.next(side_.deadline()), "RDMA_WRITE");
        side_.log.event("wc", verbs::describe(wc));
    }

    void finish() { side_.meet(); }

  private:
    static constexpr std::uint32_t asked = 16;

    const Side& side_;
    const verbs::CompChannel channel_{
        util::check_ptr(ibv_create_comp_channel(side_.context()), "ibv_create_comp_channel")};
    const verbs::Cq cq_{util::check_ptr(
        ibv_create_cq(side_.context(), 4 * asked, nullptr, channel_.get(), 0), "ibv_create_cq")};
    std::vector<std::byte> bytes_ = common::pattern(64, "Signal. ");
    const verbs::Mr mr_ = verbs::register_memory(side_.pd.get(), bytes_, 0);
    ibv_sge piece_ = piece_of(bytes_, mr_->lkey);
    Link link_{side_, {.send_cq = cq_.get(), .recv_cq = cq_.get(), .max_send_wr = asked}};
};

inline void signal_some(const Side& side, const SignallingOptions& options) {
    send(side, {.task = Task::Lend});
    Signalling signalling(side);
    if (options.every > signalling.slots())
        throw util::Error(fmt::format(
            "--signal-every {}: the send queue has {} slots, and would be full before the first "
            "completion that could free one.",
            options.every, signalling.slots()));
    // In turns, as in part 1.
    constexpr std::uint64_t at_a_time = 32;
    SignallingCost all;
    SignallingCost some;
    for (std::uint64_t done = 0; done < options.writes; done += at_a_time) {
        side.check_stop();
        signalling.write(std::min(at_a_time, options.writes - done), 1, all);
        signalling.write(std::min(at_a_time, options.writes - done), options.every, some);
    }
    const auto tell = [&](std::uint64_t every, const SignallingCost& cost) {
        side.log.event("signalling", {
                                         {"every", every},
                                         {"writes", cost.writes},
                                         {"completions", cost.completions},
                                         {"cpu_us", cost.cpu_us()},
                                     });
    };
    tell(1, all);
    tell(options.every, some);
    SideBySide table(side.log, fmt::format("{} WRITEs, signalled:", options.writes), "all",
                     fmt::format("1 in {}", options.every));
    table.row("completions", all.completions, some.completions);
    table.row("processor time a WRITE, µs", all.cpu_us(), some.cpu_us());
    signalling.fill();
    signalling.finish();
}

}  // namespace step12

// Part 1: what each of the two ways to wait costs, and how a wake-up is lost.
#pragma once

#include "ask.hpp"
#include "examples/common/memory.hpp"
#include "recorder.hpp"
#include "side_by_side.hpp"
#include "util/thread_usage.hpp"
#include "verbs/completion.hpp"
#include "ways.hpp"

namespace step12 {

struct WaitingCost {
    std::vector<std::chrono::nanoseconds> latencies;
    util::ThreadUsage pings;
    util::ThreadUsage idle;

    /// In microseconds; by nearest rank.
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

struct WaitingOptions {
    std::uint64_t pings = 100;
    std::uint64_t idle_ms = 50;
};

class Waiting {
  public:
    explicit Waiting(const Side& side) : side_(side) { side_.meet(); }

    // In turns, so that whatever else the machine does meets both.
    void compare(const WaitingOptions& options) {
        constexpr std::uint64_t at_a_time = 10;
        Polling polling(cq_.get(), side_.stop);
        Events events(cq_.get(), channel_.get(), side_.stop);
        WaitingCost polled;
        WaitingCost woken;
        for (std::uint64_t done = 0; done < options.pings; done += at_a_time) {
            side_.check_stop();
            ping(polling, std::min(at_a_time, options.pings - done), polled);
            ping(events, std::min(at_a_time, options.pings - done), woken);
        }
        idle(polling, options.idle_ms, polled);
        idle(events, options.idle_ms, woken);
        tell(Polling::name, options, polled);
        tell(Events::name, options, woken);
        SideBySide table(side_.log, "", Polling::name, Events::name);
        table.row("a WRITE to its completion, p50, µs", polled.percentile(50),
                  woken.percentile(50));
        table.row("a WRITE to its completion, p99, µs", polled.percentile(99),
                  woken.percentile(99));
        table.row("processor time for it, µs", polled.cpu_us(), woken.cpu_us());
        table.row(fmt::format("processor time of {} idle ms, µs", options.idle_ms),
                  polled.idle_cpu_us(), woken.idle_cpu_us());
    }

    // The completion comes when this program has looked, and has not armed yet. Nothing but time
    // says that it is there: where that was too little, once more with the double.
    void lose_a_wake_up() {
        Events events(cq_.get(), channel_.get(), side_.stop);
        for (std::chrono::milliseconds busy{20}; busy < std::chrono::seconds(2); busy *= 2) {
            write_and_be_busy(busy);
            events.arm();
            const bool was_woken = events.sleep(util::deadline_in(10 * busy));
            take_completion(events);
            tell("poll, arm, sleep",
                 was_woken ? "woken: the completion came after the arming"
                           : fmt::format("still asleep after {} ms, and the completion was there",
                                         10 * busy.count()));
            if (!was_woken)
                break;
        }
        write_and_be_busy(std::chrono::milliseconds(20));
        events.arm();
        const auto wc = poll_once(cq_.get());
        tell("poll, arm, poll, sleep", wc ? "the second look has found the completion"
                                          : "not there yet: it will make an event");
        if (wc)
            side_.log.event("wc", verbs::describe(*wc));
        else
            take_completion(events);
    }

    void finish() { side_.meet(); }

  private:
    ibv_send_wr next_write() {
        return request(IBV_WR_RDMA_WRITE, ++wr_id_, piece_, IBV_SEND_SIGNALED, link_.remote());
    }

    template <typename Way>
    void ping(Way& way, std::uint64_t count, WaitingCost& cost) {
        Recorder recorder(link_, 2 * count);
        const auto before = util::ThreadUsage::now();
        for (std::uint64_t i = 0; i < count; ++i) {
            ibv_send_wr wr = next_write();
            const auto began = util::Clock::now();
            recorder.post_send(wr);
            const auto wc = way.next(side_.deadline());
            cost.latencies.push_back(util::Clock::now() - began);
            recorder.completed(verbs::expect_success(wc, "RDMA_WRITE"));
        }
        cost.pings += util::ThreadUsage::now() - before;
        recorder.write();
    }

    template <typename Way>
    void idle(Way& way, std::uint64_t ms, WaitingCost& cost) {
        const auto before = util::ThreadUsage::now();
        if (way.next(util::deadline_in(std::chrono::milliseconds(ms))))
            throw util::Error("a completion came that nothing was posted for.");
        cost.idle += util::ThreadUsage::now() - before;
    }

    void write_and_be_busy(std::chrono::milliseconds time) {
        if (poll_once(cq_.get()))
            throw util::Error("a completion came that nothing was posted for.");
        ibv_send_wr wr = next_write();
        link_.post_send(wr);
        static_cast<void>(
            util::wait_readable(side_.stop.fd(), side_.stop, util::deadline_in(time)));
    }

    void take_completion(Events& events) {
        const auto wc = verbs::expect_success(events.next(side_.deadline()), "RDMA_WRITE");
        side_.log.event("wc", verbs::describe(wc));
    }

    void tell(std::string_view way, const WaitingOptions& options, WaitingCost& cost) const {
        side_.log.event("waiting", {{"way", way},
                                    {"pings", cost.latencies.size()},
                                    {"p50_us", cost.percentile(50)},
                                    {"p99_us", cost.percentile(99)},
                                    {"cpu_us", cost.cpu_us()},
                                    {"sleeps", cost.pings.sleeps},
                                    {"idle_ms", options.idle_ms},
                                    {"idle_cpu_us", cost.idle_cpu_us()}});
    }

    void tell(std::string_view order, std::string_view outcome) const {
        side_.log.event("wake_up", {{"order", order}, {"outcome", outcome}});
    }

    const Side& side_;
    const verbs::CompChannel channel_{
        util::check_ptr(ibv_create_comp_channel(side_.context()), "ibv_create_comp_channel")};
    const verbs::Cq cq_{util::check_ptr(
        ibv_create_cq(side_.context(), 4, nullptr, channel_.get(), 0), "ibv_create_cq")};
    std::vector<std::byte> bytes_ = common::pattern(64, "Ping. ");
    const verbs::Mr mr_ = verbs::register_memory(side_.pd.get(), bytes_, 0);
    ibv_sge piece_ = piece_of(bytes_, mr_->lkey);
    Link link_{side_, {.send_cq = cq_.get(), .recv_cq = cq_.get(), .max_send_wr = 2}};
    std::uint64_t wr_id_ = 0;
};

inline void wait_in_two_ways(const Side& side, const WaitingOptions& options) {
    const auto on_a_new_queue = [&](auto use) {
        send(side, {.task = Task::Lend});
        Waiting waiting(side);
        use(waiting);
        waiting.finish();
    };
    on_a_new_queue([&](Waiting& waiting) { waiting.compare(options); });
    on_a_new_queue([](Waiting& waiting) { waiting.lose_a_wake_up(); });
}

}  // namespace step12

// Lesson 10: two ways to wait for a completion, and the order of calls that makes events reliable.
#pragma once

#include <optional>

#include "rdma/handles.hpp"
#include "util/check.hpp"
#include "util/stop_signal.hpp"

namespace lesson10 {

inline std::optional<ibv_wc> poll_once(ibv_cq* cq) {
    ibv_wc wc{};
    const int found = ibv_poll_cq(cq, 1, &wc);
    util::check_rc(found < 0 ? found : 0, "ibv_poll_cq");
    return found > 0 ? std::optional(wc) : std::nullopt;
}

/// Polling: checks until there is a completion. No system calls, but the CPU is always busy.
inline std::optional<ibv_wc> next_by_polling(ibv_cq* cq, util::StopSignal& stop,
                                             util::Deadline deadline) {
    constexpr unsigned seldom = 256;  // reading the clock takes longer than a poll
    for (unsigned turn = 1;; ++turn) {
        if (const auto wc = poll_once(cq))
            return wc;
        if (turn % seldom == 0 && (util::is_past(deadline) || stop.requested()))
            return std::nullopt;
    }
}

/// Events: sleeps until the completion queue sends an event to its channel.
class Events {
  public:
    Events(ibv_cq* cq, ibv_comp_channel* channel, util::StopSignal& stop)
        : cq_(cq), channel_(channel), stop_(stop) {}
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;
    Events(Events&&) = delete;
    Events& operator=(Events&&) = delete;
    // ibv_destroy_cq waits until all events are acknowledged. Acknowledging takes a lock, so all
    // events are acknowledged together (ibv_get_cq_event(3)).
    ~Events() { ibv_ack_cq_events(cq_, taken_); }

    std::optional<ibv_wc> next(util::Deadline deadline) {
        while (true) {
            if (const auto wc = poll_once(cq_))
                return wc;
            arm();
            // Poll again: a completion between the first poll and arm() causes no event.
            if (const auto wc = poll_once(cq_))
                return wc;
            if (!sleep(deadline))
                return std::nullopt;
        }
    }

    /// The next completion causes an event. Later ones do not, nor do those already in the queue.
    void arm() { CHECK_RC(ibv_req_notify_cq(cq_, 0)); }

    /// Waits for an event. Returns false if the deadline has passed or a stop was requested.
    bool sleep(util::Deadline deadline) {
        if (util::wait_readable(channel_->fd, stop_, deadline) != util::Ready::input)
            return false;
        ibv_cq* ready = nullptr;
        void* context = nullptr;
        CHECK_ERRNO(ibv_get_cq_event(channel_, &ready, &context));
        ++taken_;
        return true;
    }

  private:
    ibv_cq* cq_;
    ibv_comp_channel* channel_;
    util::StopSignal& stop_;
    unsigned taken_ = 0;
};

}  // namespace lesson10

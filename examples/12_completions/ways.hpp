// Two ways to wait for a completion, and the one order of three calls in which the second loses
// none.
#pragma once

#include <optional>
#include <string_view>

#include "util/check.hpp"
#include "util/error.hpp"
#include "util/stop_signal.hpp"
#include "verbs/handles.hpp"

namespace step12 {

inline std::optional<ibv_wc> poll_once(ibv_cq* cq) {
    ibv_wc wc{};
    const int found = ibv_poll_cq(cq, 1, &wc);
    if (found < 0)
        throw util::Error("ibv_poll_cq failed: the completion queue is broken.");
    return found == 1 ? std::optional(wc) : std::nullopt;
}

// One way: look until it is there. No system call, and no rest for the processor.
class Polling {
  public:
    static constexpr std::string_view name = "polling";

    Polling(ibv_cq* cq, util::StopSignal& stop) : cq_(cq), stop_(stop) {}

    std::optional<ibv_wc> next(util::Deadline deadline) {
        constexpr unsigned seldom = 256;  // a look at the clock takes longer than one at the queue
        for (unsigned turn = 1;; ++turn) {
            if (const auto wc = poll_once(cq_))
                return wc;
            if (turn % seldom == 0 && (util::is_past(deadline) || stop_.requested()))
                return std::nullopt;
        }
    }

  private:
    ibv_cq* cq_;
    util::StopSignal& stop_;
};

// The other way: sleep until the device says that there is something.
class Events {
  public:
    static constexpr std::string_view name = "events";

    Events(ibv_cq* cq, ibv_comp_channel* channel, util::StopSignal& stop)
        : cq_(cq), channel_(channel), stop_(stop) {}
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;
    Events(Events&&) = delete;
    Events& operator=(Events&&) = delete;
    // ibv_destroy_cq waits until each event that was taken has been acknowledged. That takes a
    // lock, so they are acknowledged together (ibv_get_cq_event(3)).
    ~Events() { ibv_ack_cq_events(cq_, taken_); }

    std::optional<ibv_wc> next(util::Deadline deadline) {
        while (true) {
            if (const auto wc = poll_once(cq_))
                return wc;
            arm();
            // Again: what came after that look and before the arming makes no event.
            if (const auto wc = poll_once(cq_))
                return wc;
            if (!sleep(deadline))
                return std::nullopt;
        }
    }

    /// The next completion makes an event; those behind it, and those that are there, do not.
    void arm() { util::check_rc(ibv_req_notify_cq(cq_, 0), "ibv_req_notify_cq"); }

    /// Until there is an event, which is taken then; false where time was over, or a stop
    /// requested.
    bool sleep(util::Deadline deadline) {
        if (util::wait_readable(channel_->fd, stop_, deadline) != util::Ready::input)
            return false;
        ibv_cq* ready = nullptr;
        void* context = nullptr;
        util::check_errno(ibv_get_cq_event(channel_, &ready, &context), "ibv_get_cq_event");
        ++taken_;
        return true;
    }

  private:
    ibv_cq* cq_;
    ibv_comp_channel* channel_;
    util::StopSignal& stop_;
    unsigned taken_ = 0;
};

}  // namespace step12

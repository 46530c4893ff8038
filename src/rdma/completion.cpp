#include "rdma/completion.hpp"

#include <fmt/format.h>

#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace rdma {

CompletionQueue::CompletionQueue(ibv_context* context, int entries)
    : channel(CHECK_PTR(ibv_create_comp_channel(context))),
      cq(CHECK_PTR(ibv_create_cq(context, entries, nullptr, channel.get(), 0))) {
    CHECK_RC(ibv_req_notify_cq(cq.get(), 0));
}

// The order matters: a completion that arrives between an empty poll and the request for a
// notification generates no event. So after each event, request the notification again before
// polling the queue (ibv_get_cq_event(3)).
std::optional<ibv_wc> CompletionQueue::next(util::StopSignal& stop, util::Deadline deadline) {
    while (true) {
        ibv_wc wc{};
        const int found = ibv_poll_cq(cq.get(), 1, &wc);
        if (found < 0)
            throw util::Error("ibv_poll_cq failed: the completion queue is broken.");
        if (found == 1)
            return wc;
        if (util::wait_readable(channel->fd, stop, deadline) != util::Ready::input)
            return std::nullopt;
        ibv_cq* ready = nullptr;
        void* user_context = nullptr;
        CHECK_ERRNO(ibv_get_cq_event(channel.get(), &ready, &user_context));
        ibv_ack_cq_events(ready, 1);
        CHECK_RC(ibv_req_notify_cq(ready, 0));
    }
}

ibv_wc expect_success(std::optional<ibv_wc> wc, std::string_view what) {
    if (!wc)
        throw util::Error(fmt::format(
            "{} did not complete in time: the peer does not respond. Is it still running?", what));
    if (wc->status != IBV_WC_SUCCESS)
        throw util::Error(fmt::format("{} failed: {} ({}).", what, name_of(wc->status),
                                      ibv_wc_status_str(wc->status)));
    return *wc;
}

}  // namespace rdma

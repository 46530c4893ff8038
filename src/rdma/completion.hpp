// Waits for completions without using the CPU: the thread sleeps until the completion channel
// reports an event.
#pragma once

#include <optional>

#include "rdma/handles.hpp"
#include "util/stop_signal.hpp"

namespace rdma {

/// A completion queue with the channel that wakes its waiter.
struct CompletionQueue {
    CompChannel channel;
    Cq cq;

    CompletionQueue(ibv_context* context, int entries);

    /// Returns the next completion; nullopt if the deadline passed or a stop was requested. The
    /// caller must check its status: an error completion is a result, not a failure of this call.
    std::optional<ibv_wc> next(util::StopSignal& stop, util::Deadline deadline);
};

/// Waits for the completion of the only outstanding work request. Throws util::Error with the
/// request and its result if it failed or did not complete in time.
ibv_wc expect_success(std::optional<ibv_wc> wc, std::string_view what);

}  // namespace rdma

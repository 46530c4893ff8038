// One work request and its completion, as step 01 writes them out.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <infiniband/verbs.h>

#include "util/stop_signal.hpp"

namespace common {

/// A peer's memory: its address there, and the key that grants access to it.
struct RemoteMemory {
    std::uint64_t va = 0;
    std::uint32_t rkey = 0;
};

/// The next completion of `cq`, polled for once a millisecond; nullopt when the deadline has passed
/// or a stop was requested. An error completion is returned like any other.
std::optional<ibv_wc> next_completion(ibv_cq* cq, util::StopSignal& stop, util::Deadline deadline);

/// Posts `wr`, signalled, to a queue pair that has no other request outstanding, and returns its
/// completion. `time`: for a request of less than 1 MiB; one second more for each MiB. Throws
/// util::Error when the request fails or does not complete in that time, std::system_error when it
/// cannot be posted.
ibv_wc perform(ibv_qp* qp, ibv_send_wr& wr, util::StopSignal& stop, std::chrono::milliseconds time);

/// A WRITE or READ of the whole of `local`, performed.
void transfer(ibv_qp* qp, std::uint64_t wr_id, ibv_wr_opcode opcode, const ibv_mr& local,
              const RemoteMemory& remote, util::StopSignal& stop, std::chrono::milliseconds time);

}  // namespace common

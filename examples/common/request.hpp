// One work request and its completion, as in lesson 01.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <infiniband/verbs.h>

#include "util/stop_signal.hpp"

namespace common {

/// A peer's memory: its virtual address and rkey.
struct RemoteMemory {
    std::uint64_t va = 0;
    std::uint32_t rkey = 0;
};

/// Polls `cq` once a millisecond and returns the next completion, whatever its status; nullopt if
/// the deadline has passed or a stop was requested.
std::optional<ibv_wc> next_completion(ibv_cq* cq, util::StopSignal& stop, util::Deadline deadline);

/// Posts `wr`, signalled, to a queue pair without outstanding requests, and returns its completion.
/// `time`: time limit for less than 1 MiB; each MiB adds one second. Throws util::Error if the
/// request fails or times out, std::system_error if posting fails.
ibv_wc perform(ibv_qp* qp, ibv_send_wr& wr, util::StopSignal& stop, std::chrono::milliseconds time);

/// Performs a WRITE or READ of the whole of `local`.
void transfer(ibv_qp* qp, std::uint64_t wr_id, ibv_wr_opcode opcode, const ibv_mr& local,
              const RemoteMemory& remote, util::StopSignal& stop, std::chrono::milliseconds time);

}  // namespace common

// One one-sided request and its completion, as step 01 writes it out.
#pragma once

#include <chrono>
#include <cstdint>

#include "runlog/log.hpp"
#include "util/stop_signal.hpp"
#include "verbs/completion.hpp"
#include "verbs/psn.hpp"

namespace lesson {

/// Where in the peer's memory, and by which right.
struct RemoteMemory {
    std::uint64_t va = 0;
    std::uint32_t rkey = 0;
};

/// A signalled request over the whole of `local`: its predicted PSNs are logged before its first
/// packet exists, then its completion. Throws util::Error where it fails or does not complete;
/// `patience`, and a second more for each MiB.
void transfer(ibv_qp* qp, ibv_wr_opcode opcode, std::uint64_t wr_id, const ibv_mr& local,
              const RemoteMemory& remote, verbs::PsnPredictor& psns,
              verbs::CompletionQueue& completions, std::chrono::milliseconds patience,
              runlog::Log& log, util::StopSignal& stop);

}  // namespace lesson

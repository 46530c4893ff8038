// One one-sided request and its completion, as step 01 writes it out.
#pragma once

#include <chrono>
#include <cstdint>

#include "examples/common/request.hpp"
#include "rdma/completion.hpp"
#include "rdma/psn.hpp"
#include "runlog/log.hpp"
#include "util/stop_signal.hpp"

namespace common {

/// What all requests of a queue pair have in common.
struct Requester {
    ibv_qp* qp;
    rdma::PsnPredictor& psns;
    rdma::CompletionQueue& completions;
    std::chrono::milliseconds limit;
    runlog::Log* log;  // null: what is done is not written down
    util::StopSignal& stop;
};

/// Posts one signalled request and takes its completion; the predicted PSNs are logged before its
/// first packet exists. Throws util::Error where it fails or does not complete; `limit`, and a
/// second more for each MiB.
void perform(const Requester& requester, ibv_send_wr& wr);

/// A signalled request over the whole of `local`, one-sided.
void transfer(ibv_qp* qp, ibv_wr_opcode opcode, std::uint64_t wr_id, const ibv_mr& local,
              const RemoteMemory& remote, rdma::PsnPredictor& psns,
              rdma::CompletionQueue& completions, std::chrono::milliseconds limit, runlog::Log& log,
              util::StopSignal& stop);

}  // namespace common

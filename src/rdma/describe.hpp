// Verbs objects as run log fields.
#pragma once

#include <optional>

#include <infiniband/verbs.h>

#include "rdma/psn.hpp"
#include "runlog/event.hpp"

namespace rdma {

/// `access` as it was given to ibv_reg_mr: the verb does not keep it.
runlog::Fields describe(const ibv_mr& mr, int access);

/// QPN, type and queue sizes.
runlog::Fields describe(const ibv_qp& qp, const ibv_qp_cap& cap);

/// What ibv_query_qp(3) says of the QP now: state, PSNs, peer, path MTU, GID index, timers.
runlog::Fields query_state(ibv_qp* qp);

/// A work request as posted, with the PSNs it will use. Only RC and UC requests have remote fields,
/// only UD's a destination, only XRC's a shared receive queue.
runlog::Fields describe(const ibv_qp& qp, const ibv_send_wr& wr, std::optional<PsnRange> psns);

/// A receive request as posted.
runlog::Fields describe(const ibv_qp& qp, const ibv_recv_wr& wr);

runlog::Fields describe(const ibv_wc& wc);

/// The bytes of a work request's scatter/gather list.
std::uint64_t length_of(const ibv_send_wr& wr);

}  // namespace rdma

// Verbs objects as run log fields.
#pragma once

#include <cstdint>
#include <optional>

#include <infiniband/verbs.h>

#include "runlog/event.hpp"

namespace rdma {

/// 24-bit PSNs in host byte order, inclusive; `last` is less than `first` if they wrap.
struct PsnRange {
    std::uint32_t first;
    std::uint32_t last;
};

/// Current attributes of the QP from ibv_query_qp(3): state, PSNs, peer, path MTU, GID index,
/// timers.
runlog::Fields query_state(ibv_qp* qp);

/// A work request as posted, with the PSNs it will use. Only RC and UC requests have remote fields,
/// only UD requests a destination, only XRC requests a shared receive queue.
runlog::Fields describe(const ibv_qp& qp, const ibv_send_wr& wr, std::optional<PsnRange> psns);

runlog::Fields describe(const ibv_wc& wc);

/// Number of bytes in a work request's scatter/gather list.
std::uint64_t length_of(const ibv_send_wr& wr);

}  // namespace rdma

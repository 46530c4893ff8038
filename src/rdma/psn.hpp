// Which PSNs a work request will use, known before its first packet exists: this is what ties a log
// line to the wire.
//
// On an RC queue pair a request takes one PSN a packet, max(1, ceil(length / path MTU)) of them; a
// READ takes as many as its response has packets, an atomic exactly one (IBTA volume 1, 9.7.2
// and 9.7.3.1). Local operations take none.
#pragma once

#include <cstdint>
#include <optional>

#include <infiniband/verbs.h>

namespace rdma {

/// 24-bit PSNs in host byte order, both ends included; last may be smaller than first, where the
/// counter wrapped.
struct PsnRange {
    std::uint32_t first;
    std::uint32_t last;

    bool operator==(const PsnRange&) const = default;
};

class PsnPredictor {
  public:
    /// `sq_psn`: the PSN of the send queue's next packet. `path_mtu`: in bytes, not 0.
    PsnPredictor(std::uint32_t sq_psn, unsigned path_mtu);

    /// From a connected QP that has nothing outstanding: ibv_query_qp(3) names its next PSN and its
    /// path MTU.
    static PsnPredictor of(ibv_qp* qp);

    /// The PSNs of the request that is posted next. nullopt for an operation that stays inside the
    /// host.
    std::optional<PsnRange> take(ibv_wr_opcode opcode, std::uint64_t length);

    std::uint32_t next() const { return next_; }
    unsigned path_mtu() const { return path_mtu_; }

  private:
    std::uint32_t next_;
    unsigned path_mtu_;
};

}  // namespace rdma

// A queue pair's transitions to RTS as in lesson 06, with the attributes that later lessons vary.
#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

#include "rdma/device.hpp"

namespace common {

/// What one side must know of the other.
struct RcPeer {
    std::uint32_t qpn = 0;
    std::uint32_t psn = 0;  ///< of the peer's first packet
    ibv_gid gid{};
    /// Of packets to the peer: DSCP in bits 7:2, ECN in bits 1:0 of the IP header's byte.
    std::uint8_t traffic_class = 0;
};

/// Each transition throws std::system_error. `access`: IBV_ACCESS_* flags for the peer's requests.
void to_init(ibv_qp* qp, std::uint8_t port, int access);
/// `path_mtu`: bytes, 256 to 4096, at most what both sides support. `reads`: outstanding READs and
/// atomics of the peer; at least the value that the peer passes to its to_rts().
void to_rtr(ibv_qp* qp, const rdma::Gid& own, const RcPeer& peer, unsigned path_mtu,
            std::uint8_t reads = 1);

/// What happens if a request gets no response (IBTA volume 1, 9.9.2.4.1).
struct RetryPolicy {
    std::uint8_t timeout = 14;   ///< time limit 4.096 us * 2^timeout, 67 ms; 0: never retransmits
    std::uint8_t retry_cnt = 7;  ///< retries, 0 to 7; rxe takes 7 as "without limit" (rxe_comp.c)
};
/// `psn`: of this side's first packet; the peer must know it.
void to_rts(ibv_qp* qp, std::uint32_t psn, const RetryPolicy& retry = {}, std::uint8_t reads = 1);

}  // namespace common

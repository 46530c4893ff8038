// A queue pair's transitions to RTS, as step 06 writes them out, with the attributes that later steps
// vary.
#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

#include "rdma/device.hpp"

namespace common {

/// What one end has to know of the other.
struct RcPeer {
    std::uint32_t qpn = 0;
    std::uint32_t psn = 0;  ///< of the first packet that the peer will send
    ibv_gid gid{};
    /// Of all packets to it: DSCP in bits 7:2, ECN in bits 1:0 of the IP header's byte.
    std::uint8_t traffic_class = 0;
};

/// Each of them throws std::system_error naming the transition. `access`: IBV_ACCESS_* that the
/// peer's requests may have.
void to_init(ibv_qp* qp, std::uint8_t port, int access);
/// `path_mtu`: bytes, 256 to 4096, at most what both ends support. `reads`: READs and atomics of the
/// peer that may be outstanding; at least as many as the peer passes to its to_rts().
void to_rtr(ibv_qp* qp, const rdma::Gid& own, const RcPeer& peer, unsigned path_mtu,
            std::uint8_t reads = 1);

/// What happens to a request without a response (IBTA volume 1, 9.9.2.4.1).
struct RetryPolicy {
    std::uint8_t timeout = 14;   ///< retransmitted after 4.096 us * 2^timeout, 67 ms; 0: never
    std::uint8_t retry_cnt = 7;  ///< times, 0 to 7; rxe takes 7 as "without limit" (rxe_comp.c)
};
/// `psn`: of the first packet that this end will send; the peer must know it.
void to_rts(ibv_qp* qp, std::uint32_t psn, const RetryPolicy& retry = {}, std::uint8_t reads = 1);

}  // namespace common

// A reliable connection's way to RTS, as step 05 shows it, for programs that connect by hand.
#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

#include "verbs/device.hpp"

namespace verbs {

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
/// `path_mtu`: bytes, one of 256 to 4096; what both ends can. `reads`: READs and atomics of the
/// peer's that may be under way at once; at least as many as the peer gives its to_rts().
void to_rtr(ibv_qp* qp, const Gid& own, const RcPeer& peer, unsigned path_mtu,
            std::uint8_t reads = 1);

/// What happens to a request that is not answered (IBTA volume 1, 9.9.2.4.1).
struct RetryPolicy {
    std::uint8_t timeout = 14;   ///< repeated after 4.096 us * 2^timeout, 67 ms; 0: never
    std::uint8_t retry_cnt = 7;  ///< times, 0 to 7; rxe takes 7 as "without end" (rxe_comp.c)
};
/// `psn`: of the first packet that this end will send; the peer must know it already.
void to_rts(ibv_qp* qp, std::uint32_t psn, const RetryPolicy& retry = {}, std::uint8_t reads = 1);

/// Requests and receives that are still posted complete with WR_FLUSH_ERR: once all have, the queue
/// pair is drained.
void to_error(ibv_qp* qp);

}  // namespace verbs

// Lesson 19, the client: a connection with a chosen timeout and retry count.
#pragma once

#include "examples/common/rc_connection.hpp"
#include "util/check.hpp"

namespace lesson19 {

/// RTS, ready to send: how the device handles an unacknowledged packet.
inline void to_rts(ibv_qp* qp, std::uint32_t psn, std::uint8_t timeout, std::uint8_t retry_cnt) {
    ibv_qp_attr attr{
        .qp_state = IBV_QPS_RTS,
        .sq_psn = psn,
        .max_rd_atomic = 1,
        .timeout = timeout,      // retransmits after 4.096 us * 2^timeout without an ACK;
        .retry_cnt = retry_cnt,  // consecutive retries before IBV_WC_RETRY_EXC_ERR
        .rnr_retry = 7};         // the same for RNR NAKs, which request a delay; 7: without limit
    util::check_rc(ibv_modify_qp(qp, &attr,
                                 IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
                                     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY),
                   "ibv_modify_qp(RTR to RTS)");
}

/// Connects as in lesson 06, except for the last transition.
inline common::RcConnection connect(const common::RcSide& side, common::RcConnection::Wanted wanted,
                                    std::uint64_t timeout, std::uint64_t retry_cnt) {
    wanted.retry = std::nullopt;
    common::RcConnection connection(side, wanted);
    to_rts(connection.qp(), wanted.first_psn, static_cast<std::uint8_t>(timeout),
           static_cast<std::uint8_t>(retry_cnt));
    return connection;
}

}  // namespace lesson19

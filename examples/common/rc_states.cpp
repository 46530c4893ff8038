#include "examples/common/rc_states.hpp"

#include "rdma/names.hpp"
#include "util/check.hpp"

namespace common {

void to_init(ibv_qp* qp, std::uint8_t port, int access) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = port;
    attributes.qp_access_flags = static_cast<unsigned>(access);
    util::check_rc(
        ibv_modify_qp(qp, &attributes,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        "ibv_modify_qp(RESET to INIT)");
}

void to_rtr(ibv_qp* qp, const rdma::Gid& own, const RcPeer& peer, unsigned path_mtu,
            std::uint8_t reads) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTR;
    attributes.path_mtu = rdma::mtu_of(path_mtu);
    attributes.dest_qp_num = peer.qpn;
    attributes.rq_psn = peer.psn;
    attributes.max_dest_rd_atomic = reads;
    attributes.min_rnr_timer = 12;  // 0.64 ms
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.port_num = own.port;
    attributes.ah_attr.grh.dgid = peer.gid;
    attributes.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(own.index);
    attributes.ah_attr.grh.hop_limit = 64;
    attributes.ah_attr.grh.traffic_class = peer.traffic_class;
    util::check_rc(
        ibv_modify_qp(qp, &attributes,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
        "ibv_modify_qp(INIT to RTR)");
}

void to_rts(ibv_qp* qp, std::uint32_t psn, const RetryPolicy& retry, std::uint8_t reads) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTS;
    attributes.sq_psn = psn;
    attributes.timeout = retry.timeout;
    attributes.retry_cnt = retry.retry_cnt;
    attributes.rnr_retry = 7;  // 7: without limit
    attributes.max_rd_atomic = reads;
    util::check_rc(ibv_modify_qp(qp, &attributes,
                                 IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
                   "ibv_modify_qp(RTR to RTS)");
}

}  // namespace common

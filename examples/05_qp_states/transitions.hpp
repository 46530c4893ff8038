// The transitions of lesson 05 with the attributes that ibv_modify_qp(3) requires for each state of a
// reliable connection.
#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

#include "rdma/device.hpp"
#include "rdma/names.hpp"
#include "runlog/event.hpp"
#include "util/check.hpp"

namespace lesson05 {

struct Transition {
    ibv_qp_attr attributes{};
    int mask = 0;
};

/// What both ends of a connection within a port share.
struct Link {
    rdma::Gid gid;
    ibv_mtu path_mtu = IBV_MTU_1024;
    std::uint32_t psn = 0x00abcd;  ///< first PSN of both directions
};

inline Transition to(ibv_qp_state state) {
    Transition transition;
    transition.attributes.qp_state = state;
    transition.mask = IBV_QP_STATE;
    return transition;
}

inline Transition to_init(const Link& link) {
    Transition transition = to(IBV_QPS_INIT);
    transition.attributes.pkey_index = 0;
    transition.attributes.port_num = link.gid.port;
    transition.attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    transition.mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    return transition;
}

/// RTR: the peer's QPN, address and first PSN.
inline Transition to_rtr(const Link& link, std::uint32_t peer) {
    Transition transition = to(IBV_QPS_RTR);
    ibv_qp_attr& attributes = transition.attributes;
    attributes.path_mtu = link.path_mtu;
    attributes.dest_qp_num = peer;
    attributes.rq_psn = link.psn;
    attributes.max_dest_rd_atomic = 1;
    attributes.min_rnr_timer = 12;  // 0.64 ms
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.port_num = link.gid.port;
    attributes.ah_attr.grh.dgid = link.gid.raw;
    attributes.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(link.gid.index);
    attributes.ah_attr.grh.hop_limit = 64;
    transition.mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return transition;
}

/// RTS: this end's first PSN, and how it retransmits.
inline Transition to_rts(const Link& link) {
    Transition transition = to(IBV_QPS_RTS);
    ibv_qp_attr& attributes = transition.attributes;
    attributes.sq_psn = link.psn;
    attributes.timeout = 14;  // retransmits after 4.096 us * 2^14 = 67 ms without a response
    attributes.retry_cnt = 7;
    attributes.rnr_retry = 7;  // without limit
    attributes.max_rd_atomic = 1;
    transition.mask |= IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                       IBV_QP_MAX_QP_RD_ATOMIC;
    return transition;
}

inline ibv_qp_attr query(ibv_qp* qp) {
    constexpr int everything = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                               IBV_QP_ACCESS_FLAGS | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                               IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
                               IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                               IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    ibv_qp_attr attributes{};
    ibv_qp_init_attr init{};
    CHECK_RC(ibv_query_qp(qp, &attributes, everything, &init));
    return attributes;
}

/// The attributes that ibv_query_qp returns, as fields of a "qp_attr" event.
inline runlog::Fields describe(ibv_qp* qp) {
    const ibv_qp_attr attributes = query(qp);
    return {{"qpn", qp->qp_num},
            {"state", rdma::name_of(attributes.qp_state)},
            {"port", attributes.port_num},
            {"pkey_index", attributes.pkey_index},
            {"access", rdma::access_names(attributes.qp_access_flags)},
            {"dest_qpn", attributes.dest_qp_num},
            {"path_mtu", rdma::bytes_of(attributes.path_mtu)},
            {"gid_index", attributes.ah_attr.grh.sgid_index},
            {"rq_psn", attributes.rq_psn},
            {"max_dest_rd_atomic", attributes.max_dest_rd_atomic},
            {"min_rnr_timer", attributes.min_rnr_timer},
            {"sq_psn", attributes.sq_psn},
            {"max_rd_atomic", attributes.max_rd_atomic},
            {"timeout", attributes.timeout},
            {"retry_cnt", attributes.retry_cnt},
            {"rnr_retry", attributes.rnr_retry}};
}

}  // namespace lesson05

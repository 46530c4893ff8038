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
    return {.attributes = {.qp_state = state}, .mask = IBV_QP_STATE};
}

inline Transition to_init(const Link& link) {
    return {.attributes = {.qp_state = IBV_QPS_INIT,
                           .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
                           .pkey_index = 0,
                           .port_num = link.gid.port},
            .mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS};
}

/// RTR: the peer's QPN, address and first PSN.
inline Transition to_rtr(const Link& link, std::uint32_t peer) {
    return {
        .attributes = {.qp_state = IBV_QPS_RTR,
                       .path_mtu = link.path_mtu,
                       .rq_psn = link.psn,
                       .dest_qp_num = peer,
                       .ah_attr = {.grh = {.dgid = link.gid.raw,
                                           .sgid_index = static_cast<std::uint8_t>(link.gid.index),
                                           .hop_limit = 64},
                                   .is_global = 1,
                                   .port_num = link.gid.port},
                       .max_dest_rd_atomic = 1,
                       .min_rnr_timer = 12},  // 0.64 ms
        .mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER};
}

/// RTS: this end's first PSN, and how it retransmits.
inline Transition to_rts(const Link& link) {
    return {.attributes = {.qp_state = IBV_QPS_RTS,
                           .sq_psn = link.psn,
                           .max_rd_atomic = 1,
                           .timeout = 14,  // 67 ms (4.096 us * 2^14) without a response: retransmit
                           .retry_cnt = 7,
                           .rnr_retry = 7},  // without limit
            .mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC};
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

// Lesson 16, both sides: a queue pair from ibv_create_qp to RTS. The attributes that ibv_modify_qp
// requires show what each transport needs to know.
#pragma once

#include "side.hpp"

namespace lesson16 {

/// `receives`: capacity of its own receive queue; 0 with a shared receive queue.
inline rdma::Qp create_qp(const Side& side, ibv_qp_type type, ibv_cq* cq, std::uint32_t sends,
                          std::uint32_t receives, ibv_srq* srq = nullptr) {
    ibv_qp_init_attr attributes{.send_cq = cq,
                                .recv_cq = cq,
                                .srq = srq,
                                .cap = {.max_send_wr = sends,
                                        .max_recv_wr = receives,
                                        .max_send_sge = 1,
                                        .max_recv_sge = receives == 0 ? 0U : 1U},
                                .qp_type = type};  // IBV_QPT_RC, IBV_QPT_UC or IBV_QPT_UD
    return rdma::Qp{CHECK_PTR(ibv_create_qp(side.pd.get(), &attributes))};
}

inline void send_endpoint(const Side& side, const ibv_qp* qp) {
    net::Endpoint mine{.qpn = qp->qp_num,
                       .psn = side.first_psn,
                       .lid = side.port.lid,
                       .path_mtu = side.port.path_mtu};
    std::memcpy(mine.gid.data(), side.port.gid.raw, mine.gid.size());
    net::send_endpoint(side.channel, mine, side.limit());
    side.log.event("exchange", net::describe(mine, "sent", side.channel.name()));
}

inline net::Endpoint receive_endpoint(const Side& side) {
    const auto theirs = net::receive_endpoint(side.channel, side.limit());
    side.log.event("exchange", net::describe(theirs, "received", side.channel.name()));
    return theirs;
}

inline ibv_gid gid_of(const net::Endpoint& endpoint) {
    ibv_gid gid{};
    std::memcpy(gid.raw, endpoint.gid.data(), endpoint.gid.size());
    return gid;
}

/// Returns the address of a host: part of a connected queue pair's attributes, and all that an
/// address handle contains.
inline ibv_ah_attr path_to(const Side& side, const ibv_gid& gid) {
    return {.grh = {.dgid = gid, .sgid_index = side.port.gid_index, .hop_limit = 64},
            .is_global = 1,
            .port_num = side.port.number};
}

/// For RC, UC and XRC: the queue pair has one peer. Each end of an XRC connection does half of RC's
/// work: the sender retransmits, the receiver acknowledges.
inline void connect(const Side& side, ibv_qp* qp, const net::Endpoint& peer) {
    const bool acknowledges = qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_RECV;
    const bool retransmits = qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND;

    ibv_qp_attr init{.qp_state = IBV_QPS_INIT,
                     .qp_access_flags = 0,  // the peer may not READ or WRITE
                     .port_num = side.port.number};
    util::check_rc(
        ibv_modify_qp(qp, &init,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        "ibv_modify_qp(RESET to INIT)");

    // All three: the peer's address, and the PSN of its first packet. UC drops packets that are out
    // of sequence, without a response.
    ibv_qp_attr rtr{.qp_state = IBV_QPS_RTR,
                    .path_mtu = rdma::mtu_of(std::min(side.port.path_mtu, peer.path_mtu)),
                    .rq_psn = peer.psn,
                    .dest_qp_num = peer.qpn,
                    .ah_attr = path_to(side, gid_of(peer))};
    int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (acknowledges) {
        rtr.max_dest_rd_atomic = 1;  // outstanding READs and atomics of the peer
        rtr.min_rnr_timer = 12;      // 0.64 ms between tries if no receive is posted
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    }
    util::check_rc(ibv_modify_qp(qp, &rtr, mask), "ibv_modify_qp(INIT to RTR)");
    if (qp->qp_type == IBV_QPT_XRC_RECV)
        return;  // it has no send queue

    ibv_qp_attr rts{.qp_state = IBV_QPS_RTS, .sq_psn = side.first_psn};
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (retransmits) {
        rts.timeout = 17;  // 4.096 us * 2^17 = 0.54 s: responses are slow under emulation
        rts.retry_cnt = 7;
        rts.rnr_retry = 7;  // 7: without limit
        rts.max_rd_atomic = 1;
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    }
    util::check_rc(ibv_modify_qp(qp, &rts, mask), "ibv_modify_qp(RTR to RTS)");
}

/// For UD: no peer, no path MTU and no expected PSN, but a Q_Key. The queue pair receives only
/// datagrams with this key.
inline void open_for_datagrams(const Side& side, ibv_qp* qp, std::uint32_t q_key) {
    ibv_qp_attr init{.qp_state = IBV_QPS_INIT, .qkey = q_key, .port_num = side.port.number};
    util::check_rc(
        ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
        "ibv_modify_qp(RESET to INIT)");
    ibv_qp_attr rtr{.qp_state = IBV_QPS_RTR};
    util::check_rc(ibv_modify_qp(qp, &rtr, IBV_QP_STATE), "ibv_modify_qp(INIT to RTR)");
    ibv_qp_attr rts{.qp_state = IBV_QPS_RTS, .sq_psn = side.first_psn};
    util::check_rc(ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN),
                   "ibv_modify_qp(RTR to RTS)");
}

/// Creates a handle for the host that datagrams go to. Each request gives the QPN there.
inline rdma::Ah create_ah(const Side& side, const ibv_gid& gid) {
    ibv_ah_attr attributes = path_to(side, gid);
    return rdma::Ah{CHECK_PTR(ibv_create_ah(side.pd.get(), &attributes))};
}

}  // namespace lesson16

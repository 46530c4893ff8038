// Step 15, both sides: a connection whose timeout and retry count the program chooses.
#pragma once

#include <algorithm>
#include <cstring>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/common/request.hpp"
#include "exchange/tcp.hpp"
#include "runlog/log.hpp"

namespace step15 {

/// What all connections of a program use.
struct Side {
    exchange::Channel& channel;
    const step06::Port& port;
    ibv_pd* pd;
    runlog::Log& log;
    util::StopSignal& stop;
    std::chrono::milliseconds time;  // time limit of each wait

    exchange::Patience patience() const { return {stop, util::deadline_in(time)}; }
    void barrier() const { exchange::meet(channel, patience()); }
};

/// RTS, ready to send: what the device does about a packet that is not acknowledged.
inline void to_rts(ibv_qp* qp, std::uint32_t psn, std::uint8_t timeout, std::uint8_t retry_cnt) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = psn;
    attr.max_rd_atomic = 1;
    attr.timeout = timeout;  // retransmit after 4.096 us * 2^timeout without an acknowledgement;
    attr.retry_cnt = retry_cnt;  // after so many times in a row: IBV_WC_RETRY_EXC_ERR
    attr.rnr_retry = 7;          // the same for RNR NAKs, which ask for a pause; 7: without limit
    util::check_rc(ibv_modify_qp(qp, &attr,
                                 IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
                                     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY),
                   "ibv_modify_qp(RTR to RTS)");
}

struct Wanted {
    std::uint32_t first_psn = 0;
    std::uint32_t max_send_wr = 1;
    std::uint16_t path_mtu = 4096;  // bytes, at most
    std::uint8_t timeout = 14;
    std::uint8_t retry_cnt = 7;
    const ibv_mr* exposed = nullptr;  // memory that the peer may write to
    std::uint8_t traffic_class = 0;   // DSCP and ECN of what is sent
};

struct Connection {
    verbs::Cq cq;
    verbs::Qp qp;
    common::RemoteMemory remote;  // the peer's `exposed`
    std::uint16_t path_mtu;
};

/// A queue pair in RTS, connected as in step 06. Nothing may be sent before the next barrier: the
/// peer may not be in RTR yet.
inline Connection connect(const Side& side, const Wanted& wanted) {
    verbs::Cq cq{
        util::check_ptr(ibv_create_cq(side.port.context.get(), static_cast<int>(wanted.max_send_wr),
                                      nullptr, nullptr, 0),
                        "ibv_create_cq")};
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = cq.get();
    attributes.recv_cq = cq.get();
    attributes.cap = {.max_send_wr = wanted.max_send_wr,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    verbs::Qp qp{util::check_ptr(ibv_create_qp(side.pd, &attributes), "ibv_create_qp")};

    exchange::Endpoint mine{.qpn = qp->qp_num,
                            .psn = wanted.first_psn,
                            .lid = side.port.lid,
                            .path_mtu = std::min(side.port.path_mtu, wanted.path_mtu)};
    std::memcpy(mine.gid.data(), side.port.gid.raw, mine.gid.size());
    if (wanted.exposed != nullptr) {
        mine.va = reinterpret_cast<std::uintptr_t>(wanted.exposed->addr);
        mine.length = wanted.exposed->length;
        mine.rkey = wanted.exposed->rkey;
    }
    side.log.event("psn",
                   {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "the program's default"}});
    exchange::send_endpoint(side.channel, mine, side.patience());
    side.log.event("exchange", exchange::describe(mine, "sent", side.channel.name()));
    exchange::Endpoint theirs = exchange::receive_endpoint(side.channel, side.patience());
    side.log.event("exchange", exchange::describe(theirs, "received", side.channel.name()));

    step06::to_init(qp.get(), side.port, IBV_ACCESS_REMOTE_WRITE);
    theirs.path_mtu = std::min(mine.path_mtu, theirs.path_mtu);
    step06::to_rtr(qp.get(), side.port, theirs, wanted.traffic_class);
    to_rts(qp.get(), mine.psn, wanted.timeout, wanted.retry_cnt);
    return {std::move(cq), std::move(qp), {theirs.va, theirs.rkey}, theirs.path_mtu};
}

}  // namespace step15

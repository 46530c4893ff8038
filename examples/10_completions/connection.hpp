// Lesson 10, both sides: a queue pair connected as in lesson 06. Each part of the lesson creates one with
// its own completion queue and capacities.
#pragma once

#include <cstring>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/common/request.hpp"
#include "net/tcp.hpp"
#include "runlog/log.hpp"

namespace lesson10 {

/// What all connections of a program share.
struct Side {
    net::Channel& channel;
    const lesson06::Port& port;
    ibv_pd* pd;
    std::uint32_t first_psn;
    runlog::Log& log;
    util::StopSignal& stop;
    std::chrono::milliseconds time;  // time limit of each wait

    ibv_context* context() const { return port.context.get(); }
    util::Deadline deadline() const { return util::deadline_in(time); }
    net::TimeLimit limit() const { return {stop, deadline()}; }
    void barrier() const { net::barrier(channel, limit()); }
    /// Waits for the peer without a time limit.
    void last_barrier() const { net::barrier(channel, {stop, std::nullopt}); }
    /// For loops whose completions are always available, so that they never wait.
    void check_stop() const {
        if (stop.requested())
            throw util::Error("stopped by a signal.");
    }
};

/// `cap`: the requested capacities; on return the actual ones, which may be larger.
inline rdma::Qp make_qp(const Side& side, ibv_cq* cq, ibv_qp_cap& cap) {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = cq;
    attributes.recv_cq = cq;
    attributes.sq_sig_all = 0;  // only requests with IBV_SEND_SIGNALED generate a completion
    attributes.cap = cap;
    rdma::Qp qp{CHECK_PTR(ibv_create_qp(side.pd, &attributes))};
    cap = attributes.cap;
    return qp;
}

/// The device retransmits after 4.096 us * 2^20 = 4 s without an ACK: longer than any ACK takes
/// under emulation.
struct Retries {
    std::uint8_t timeout = 20;
    std::uint8_t retry_cnt = 7;
};

/// From RESET to RTS. The caller must not send before the next barrier: the peer may not be in RTR
/// yet. `exposed`: memory for the peer. Returns the peer's.
inline common::RemoteMemory connect(const Side& side, ibv_qp* qp, const Retries& retries = {},
                                    const ibv_mr* exposed = nullptr) {
    net::Endpoint mine{.qpn = qp->qp_num,
                       .psn = side.first_psn,
                       .lid = side.port.lid,
                       .path_mtu = side.port.path_mtu};
    std::memcpy(mine.gid.data(), side.port.gid.raw, mine.gid.size());
    if (exposed != nullptr) {
        mine.va = reinterpret_cast<std::uintptr_t>(exposed->addr);
        mine.length = exposed->length;
        mine.rkey = exposed->rkey;
    }
    side.log.event("psn",
                   {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "the program's default"}});
    net::send_endpoint(side.channel, mine, side.limit());
    side.log.event("exchange", net::describe(mine, "sent", side.channel.name()));
    const net::Endpoint theirs = net::receive_endpoint(side.channel, side.limit());
    side.log.event("exchange", net::describe(theirs, "received", side.channel.name()));

    lesson06::to_init(qp, side.port, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    lesson06::to_rtr(qp, side.port, theirs);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = mine.psn;
    attr.max_rd_atomic = 1;
    attr.timeout = retries.timeout;
    attr.retry_cnt = retries.retry_cnt;
    attr.rnr_retry = 7;  // without limit
    util::check_rc(ibv_modify_qp(qp, &attr,
                                 IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
                                     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY),
                   "ibv_modify_qp(RTR to RTS)");
    return {.va = theirs.va, .rkey = theirs.rkey};
}

/// Returns a WRITE of the whole of `mr` to the start of the peer's memory. `flags`:
/// IBV_SEND_SIGNALED or 0.
inline ibv_send_wr write_request(std::uint64_t wr_id, ibv_sge& sge,
                                 const common::RemoteMemory& remote, unsigned flags) {
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = flags;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = remote.va;
    wr.wr.rdma.rkey = remote.rkey;
    return wr;
}

}  // namespace lesson10

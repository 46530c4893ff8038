// Lesson 10, both sides: a queue pair connected as in lesson 06, with a completion queue and a buffer
// of its own. Each part of the lesson makes one.
#pragma once

#include <cstring>
#include <vector>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/common/memory.hpp"
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

/// The device retransmits after 4.096 us * 2^20 = 4 s without an ACK: longer than any ACK takes
/// under emulation.
struct Retries {
    std::uint8_t timeout = 20;
    std::uint8_t retry_cnt = 7;
};

/// What the parts choose differently. `cqe`: the smallest number of entries of the completion queue.
struct Wanted {
    int cqe = 1;
    ibv_comp_channel* channel = nullptr;
    std::uint32_t max_send_wr = 1;
    std::uint32_t max_recv_wr = 1;
    std::uint32_t max_inline_data = 0;
    Retries retries{};
};

struct Connection {
    std::vector<std::byte> bytes;
    rdma::Mr mr;  // the peer may READ and WRITE it
    rdma::Cq cq;
    rdma::Qp qp;
    ibv_qp_cap cap{};  // may be larger than what was requested
    common::RemoteMemory remote;
    ibv_sge all{};  // all of `bytes`

    /// From nothing to RTS. The caller must not send before the next barrier: the peer may not be in
    /// RTR yet.
    Connection(const Side& side, const Wanted& wanted, std::vector<std::byte> memory)
        : bytes(std::move(memory)),
          mr(CHECK_PTR(ibv_reg_mr(
              side.pd, bytes.data(), bytes.size(),
              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ))),
          cq(CHECK_PTR(ibv_create_cq(side.context(), wanted.cqe, nullptr, wanted.channel, 0))),
          all{.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
              .length = static_cast<std::uint32_t>(bytes.size()),
              .lkey = mr->lkey} {
        ibv_qp_init_attr attributes{
            .send_cq = cq.get(),
            .recv_cq = cq.get(),
            .cap = {.max_send_wr = wanted.max_send_wr,
                    .max_recv_wr = wanted.max_recv_wr,
                    .max_send_sge = 1,
                    .max_recv_sge = 1,
                    .max_inline_data = wanted.max_inline_data},
            .qp_type = IBV_QPT_RC,
            .sq_sig_all = 0};  // only requests with IBV_SEND_SIGNALED generate a completion
        qp.reset(CHECK_PTR(ibv_create_qp(side.pd, &attributes)));
        cap = attributes.cap;
        connect(side, wanted.retries);
    }

    /// A WRITE of all bytes to the start of the peer's memory. `flags`: IBV_SEND_SIGNALED or 0.
    ibv_send_wr write(std::uint64_t wr_id, unsigned flags) {
        return {.wr_id = wr_id,
                .sg_list = &all,
                .num_sge = 1,
                .opcode = IBV_WR_RDMA_WRITE,
                .send_flags = flags,
                .wr = {.rdma = {.remote_addr = remote.va, .rkey = remote.rkey}}};
    }

    /// `buffer`: a part of the bytes.
    void post_receive(std::uint64_t wr_id, std::span<std::byte> buffer) const {
        ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(buffer.data()),
                    .length = static_cast<std::uint32_t>(buffer.size()),
                    .lkey = mr->lkey};
        ibv_recv_wr wr{.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
        ibv_recv_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_recv(qp.get(), &wr, &bad_wr));
    }

  private:
    void connect(const Side& side, const Retries& retries) {
        net::Endpoint mine{.qpn = qp->qp_num,
                           .psn = side.first_psn,
                           .lid = side.port.lid,
                           .path_mtu = side.port.path_mtu,
                           .va = all.addr,
                           .length = bytes.size(),
                           .rkey = mr->rkey};
        std::memcpy(mine.gid.data(), side.port.gid.raw, mine.gid.size());
        side.log.event("psn",
                       {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "the program's default"}});
        net::send_endpoint(side.channel, mine, side.limit());
        const net::Endpoint theirs = net::receive_endpoint(side.channel, side.limit());
        remote = {.va = theirs.va, .rkey = theirs.rkey};

        lesson06::to_init(qp.get(), side.port, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
        lesson06::to_rtr(qp.get(), side.port, theirs);
        ibv_qp_attr attr{.qp_state = IBV_QPS_RTS,
                         .sq_psn = mine.psn,
                         .max_rd_atomic = 1,
                         .timeout = retries.timeout,
                         .retry_cnt = retries.retry_cnt,
                         .rnr_retry = 7};  // without limit
        util::check_rc(ibv_modify_qp(qp.get(), &attr,
                                     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
                                         IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY),
                       "ibv_modify_qp(RTR to RTS)");
    }
};

}  // namespace lesson10

// Lesson 12, the client: a connection, from the TCP connection of its exchange to the queue pair.
#pragma once

#include <array>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "net/tcp.hpp"
#include "protocol.hpp"

namespace lesson12 {

/// As in lesson 06, but with a retry limit: a request without a response fails after four attempts,
/// here 268 ms. With retry_cnt 7, rxe would retransmit without limit.
inline void to_rts(ibv_qp* qp, std::uint32_t psn) {
    ibv_qp_attr attr{.qp_state = IBV_QPS_RTS,
                     .sq_psn = psn,
                     .max_rd_atomic = 1,
                     .timeout = 14,    // 67 ms
                     .retry_cnt = 3,   // after the first attempt
                     .rnr_retry = 7};  // without limit: a slow server is not a lost one
    util::check_rc(ibv_modify_qp(qp, &attr,
                                 IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
                                     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY),
                   "ibv_modify_qp(RTR to RTS)");
}

// None of it can be reused after an error: a queue pair in ERR sends nothing, and a new one has new
// PSNs.
struct Connection {
    net::TcpChannel channel;
    lesson06::Port port;
    rdma::Pd pd;
    std::array<std::byte, lesson12::Message::size> out{}, in{};
    rdma::Mr out_mr, in_mr;
    rdma::Cq cq;
    rdma::Qp qp;
    net::Endpoint theirs;

    Connection(net::Socket socket, const net::TimeLimit& limit)
        : channel(std::move(socket)),
          port(lesson06::open_port(channel.socket().local())),
          pd(CHECK_PTR(ibv_alloc_pd(port.context.get()))),
          out_mr(CHECK_PTR(ibv_reg_mr(pd.get(), out.data(), out.size(), 0))),
          in_mr(CHECK_PTR(ibv_reg_mr(pd.get(), in.data(), in.size(), IBV_ACCESS_LOCAL_WRITE))),
          cq(CHECK_PTR(ibv_create_cq(port.context.get(), 1, nullptr, nullptr, 0))) {
        ibv_qp_init_attr init{
            .send_cq = cq.get(),
            .recv_cq = cq.get(),
            .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
            .qp_type = IBV_QPT_RC};
        qp.reset(CHECK_PTR(ibv_create_qp(pd.get(), &init)));
        net::Endpoint mine{.qpn = qp->qp_num,
                           .psn = lesson07::random_psn(),
                           .lid = port.lid,
                           .path_mtu = port.path_mtu};
        std::memcpy(mine.gid.data(), port.gid.raw, mine.gid.size());
        net::send_endpoint(channel, mine, limit);
        theirs = net::receive_endpoint(channel, limit);
        lesson06::to_init(qp.get(), port, 0);
        lesson06::to_rtr(qp.get(), port, theirs);
        to_rts(qp.get(), mine.psn);
        net::barrier(channel, limit);
    }
};

}  // namespace lesson12

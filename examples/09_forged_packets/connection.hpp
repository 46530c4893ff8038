// Lesson 09, both sides: a connection without rdma_cm as in lesson 06, which can restart through RESET.
#pragma once

#include <string_view>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "net/channel.hpp"
#include "runlog/log.hpp"

namespace lesson09 {

struct Link {
    rdma::Qp qp;
    net::Endpoint mine;
    net::Endpoint theirs;
};

inline constexpr std::size_t message_size = 64;
inline constexpr std::string_view random_source = "RAND_bytes";
inline constexpr std::string_view reused_source = "the one before";

inline rdma::Pd make_pd(const lesson06::Port& port) {
    return rdma::Pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
}

inline rdma::Mr register_memory(ibv_pd* pd, std::span<std::byte> bytes, unsigned access) {
    return rdma::Mr{
        CHECK_PTR(ibv_reg_mr(pd, bytes.data(), bytes.size(), static_cast<int>(access)))};
}

inline rdma::Cq make_cq(const lesson06::Port& port) {
    return rdma::Cq{CHECK_PTR(ibv_create_cq(port.context.get(), 16, nullptr, nullptr, 0))};
}

inline rdma::Qp make_qp(ibv_pd* pd, ibv_cq* cq) {
    ibv_qp_init_attr attributes{
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    return rdma::Qp{CHECK_PTR(ibv_create_qp(pd, &attributes))};
}

/// `exposed`: null if this side exposes no memory.
inline net::Endpoint endpoint_of(const ibv_qp& qp, std::uint32_t psn, const lesson06::Port& port,
                                 const ibv_mr* exposed) {
    net::Endpoint endpoint{
        .qpn = qp.qp_num, .psn = psn, .lid = port.lid, .path_mtu = port.path_mtu};
    std::memcpy(endpoint.gid.data(), port.gid.raw, endpoint.gid.size());
    if (exposed != nullptr) {
        endpoint.va = reinterpret_cast<std::uintptr_t>(exposed->addr);
        endpoint.length = exposed->length;
        endpoint.rkey = exposed->rkey;
    }
    return endpoint;
}

/// To RESET: the queue pair loses its peer, PSNs and requests, but keeps its number. Logs a "qp"
/// event, because requests are counted from the first again.
inline void reset(ibv_qp* qp, runlog::Log& log) {
    ibv_qp_attr attr{.qp_state = IBV_QPS_RESET};
    util::check_rc(ibv_modify_qp(qp, &attr, IBV_QP_STATE), "ibv_modify_qp(to RESET)");
    log.event("qp", {{"qpn", qp->qp_num}, {"type", rdma::name_of(IBV_QPT_RC)}});
}

/// What happens to an unacknowledged request.
struct Retry {
    std::uint8_t timeout;    // retransmits after 4.096 us * 2^timeout; 0: never
    std::uint8_t retry_cnt;  // consecutive retries before IBV_WC_RETRY_EXC_ERR
};

/// For a WRITE to a queue pair in ERR, which should fail soon: after three times 0.5 s.
inline constexpr Retry giving_up{.timeout = 17, .retry_cnt = 2};
/// For the server, whose request stays outstanding until a response arrives, and for the witness,
/// whose WRITE waits for thousands of packets and must not be counted twice. No timeout is long
/// enough: rxe starts its timer with one request, and the timer expires during another.
inline constexpr Retry no_retry{.timeout = 0, .retry_cnt = 7};

/// From RESET to RTS.
inline void raise(const Link& link, const lesson06::Port& port, unsigned access,
                  const Retry& retry) {
    ibv_qp* qp = link.qp.get();
    lesson06::to_init(qp, port, access);
    lesson06::to_rtr(qp, port, link.theirs);
    ibv_qp_attr attr{.qp_state = IBV_QPS_RTS,
                     .sq_psn = link.mine.psn,
                     .max_rd_atomic = 1,
                     .timeout = retry.timeout,
                     .retry_cnt = retry.retry_cnt,
                     .rnr_retry = 7};  // without limit
    util::check_rc(ibv_modify_qp(qp, &attr,
                                 IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
                                     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY),
                   "ibv_modify_qp(RTR to RTS)");
}

}  // namespace lesson09

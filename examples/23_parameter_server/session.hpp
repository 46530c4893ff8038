// Lesson 23, the server: a worker's connection.
#pragma once

#include "memory.hpp"
#include "rdma/cm_handles.hpp"
#include "runlog/log.hpp"

namespace lesson23 {

struct Session {
    rdma::CmId id;
    rdma::CmQp qp{};
    std::uint16_t rank = 0;
};

/// Posts a receive without a buffer, for the immediate data of one push.
inline void post_receive(const Session& session) {
    ibv_recv_wr wr{.wr_id = session.rank};  // identifies the worker if the receive is flushed
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_recv(session.id->qp, &wr, &bad_wr));
}

/// Accepts a worker, and before that posts its receives.
inline void accept(Session& session, const Memory& memory, runlog::Log& log) {
    rdma_cm_id* id = session.id.get();
    ibv_qp_init_attr init{
        .send_cq = memory.completions.cq.get(),
        .recv_cq = memory.completions.cq.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    CHECK_ERRNO(rdma_create_qp(id, memory.pd.get(), &init));
    session.qp.reset(id);
    for (std::uint32_t i = 0; i < init.cap.max_recv_wr; ++i)
        post_receive(session);

    const Assignment place = memory.place_of(session.rank);
    const auto bytes = place.serialize();
    rdma_conn_param parameters{.private_data = bytes.data(),
                               .private_data_len = bytes.size(),
                               .responder_resources = 1,  // one outstanding READ of the worker
                               .rnr_retry_count = 7};
    CHECK_ERRNO(rdma_accept(id, &parameters));
    log.event("exchange", rdma::describe(place.slot, "sent"));
    log.event("exchange", rdma::describe(place.weights, "sent"));
}

}  // namespace lesson23

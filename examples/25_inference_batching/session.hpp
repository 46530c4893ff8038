// Lesson 25, the server's resources for one client: its slots, queue pair, and results in flight.
#pragma once

#include <optional>
#include <vector>

#include "rdma/cm_events.hpp"
#include "runlog/log.hpp"
#include "slots.hpp"
#include "util/check.hpp"
#include "waiting.hpp"

namespace lesson25 {

/// Every call throws util::Error or std::system_error on failure. The destructor ends the
/// connection.
struct Session {
    rdma::CmId id;
    Greeting greeting;
    std::uint64_t number;  // of the client, from 1
    ServerSlots in_use;
    std::vector<std::byte> slots;  // where the client writes its batches
    std::vector<Output> outputs;   // of each slot
    std::vector<bool> is_sending;  // by slot: outputs in flight
    std::optional<Time> since;     // the client's device has acknowledged nothing since
    rdma::Pd pd;                   // its own: its rkeys are invalid on other connections
    rdma::Mr slots_mr, outputs_mr;
    rdma::CmQp qp{};
    bool is_established = false, has_begun = false;

    Session(rdma::CmId of, const Greeting& wanted, std::uint64_t client)
        : id(std::move(of)),
          greeting(wanted),
          number(client),
          in_use(wanted.shape),
          slots(wanted.shape.slots_size()),
          outputs(wanted.shape.results()),
          is_sending(wanted.shape.depth),
          pd(CHECK_PTR(ibv_alloc_pd(id->verbs))),
          slots_mr(CHECK_PTR(ibv_reg_mr(pd.get(), slots.data(), slots.size(),
                                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))),
          outputs_mr(
              CHECK_PTR(ibv_reg_mr(pd.get(), outputs.data(), outputs.size() * sizeof(Output), 0))) {
    }
    Session(const Session&) = delete;  // the device has the address of its memory
    Session& operator=(const Session&) = delete;
    Session(Session&&) = delete;
    Session& operator=(Session&&) = delete;
    ~Session() = default;

    std::uint32_t qpn() const { return id->qp->qp_num; }
    bool is_waiting() const { return is_established && !has_begun; }
};

/// Two for each result, one for the start message.
constexpr std::uint32_t max_sends(const Shape& shape) {
    return 2u * shape.depth + 1;
}

/// Posts a receive for the notice of a batch. It needs no buffer: the bytes go into a slot.
inline void post_receive(const Session& session) {
    ibv_recv_wr wr{.wr_id = session.number};
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_recv(session.id->qp, &wr, &bad_wr));
}

/// Creates a queue pair on the shared completion queue, with a receive for each slot. As no client
/// has more batches in flight than slots, none gets an RNR NAK.
inline void accept(Session& session, ibv_cq* completions, runlog::Log& log) {
    ibv_qp_init_attr init{.send_cq = completions,
                          .recv_cq = completions,
                          .cap = {.max_send_wr = max_sends(session.greeting.shape),
                                  .max_recv_wr = session.greeting.shape.depth,
                                  .max_send_sge = 1,
                                  .max_recv_sge = 1},
                          .qp_type = IBV_QPT_RC};
    CHECK_ERRNO(rdma_create_qp(session.id.get(), session.pd.get(), &init));
    session.qp.reset(session.id.get());
    for (std::uint16_t slot = 0; slot < session.greeting.shape.depth; ++slot)
        post_receive(session);

    const rdma::Capability slots{.va = reinterpret_cast<std::uintptr_t>(session.slots.data()),
                                 .length = session.slots.size(),
                                 .rkey = session.slots_mr->rkey};
    const auto bytes = slots.serialize();
    rdma_conn_param parameters{
        .private_data = bytes.data(), .private_data_len = bytes.size(), .rnr_retry_count = 7};
    CHECK_ERRNO(rdma_accept(session.id.get(), &parameters));
    log.event("exchange", rdma::describe(session.greeting.results, "received"));
    log.event("exchange", rdma::describe(slots, "sent"));
}

}  // namespace lesson25

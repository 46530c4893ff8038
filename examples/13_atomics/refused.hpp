// Lesson 13, atomics that the server's device refuses.
#pragma once

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "examples/common/cm_client.hpp"
#include "words.hpp"

namespace lesson13 {

/// Posts a FETCH_ADD of 1 with this key, `offset` bytes after the first word, which must complete
/// with `wanted`. It breaks its queue pair, so it has its own connection (lesson 04). Throws
/// util::Error on another result.
inline void be_refused(const common::ClientOptions& options, Key key, std::size_t offset,
                       ibv_wc_status wanted, runlog::Log& log, util::StopSignal& stop) {
    common::CmClient client(options, 1, log, stop);
    std::uint64_t found = 0;
    const rdma::Mr mr{
        CHECK_PTR(ibv_reg_mr(client.pd(), &found, sizeof found, IBV_ACCESS_LOCAL_WRITE))};

    // 1. A queue pair that supports FETCH_ADD with ibv_wr_*: this must be requested at creation.
    ibv_qp_init_attr_ex init{
        .send_cq = client.cq(),
        .recv_cq = client.cq(),
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .pd = client.pd(),
        .send_ops_flags = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD};
    CHECK_ERRNO(rdma_create_qp_ex(client.id(), &init));
    const rdma::CmQp qp{client.id()};  // its destructor calls rdma_destroy_qp
    const auto request = static_cast<std::byte>(key);
    const rdma::Capability remote = client.connect({&request, 1});

    // 2. The request. Some libraries check the address themselves, but only here.
    ibv_sge sge{
        .addr = reinterpret_cast<std::uintptr_t>(&found), .length = sizeof found, .lkey = mr->lkey};
    ibv_send_wr wr{
        .wr_id = 1,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
        .send_flags = IBV_SEND_SIGNALED,
        .wr = {
            .atomic = {.remote_addr = remote.va + offset, .compare_add = 1, .rkey = remote.rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    if (const int rc = ibv_post_send(client.qp(), &wr, &bad_wr); rc != 0) {
        log.note(fmt::format("ibv_post_send failed: {}; posted by ibv_wr_atomic_fetch_add instead",
                             strerrorname_np(std::abs(rc))));
        ibv_qp_ex* extended = ibv_qp_to_qp_ex(client.qp());
        ibv_wr_start(extended);
        extended->wr_id = 1;
        extended->wr_flags = IBV_SEND_SIGNALED;
        ibv_wr_atomic_fetch_add(extended, remote.rkey, remote.va + offset, 1);
        ibv_wr_set_sge(extended, sge.lkey, sge.addr, sge.length);
        CHECK_RC(ibv_wr_complete(extended));
    }

    // 3. The error, and the resulting state of the queue pair.
    client.expect_status(wanted);
    log_state(client.qp(), log);
    client.disconnect();
}

}  // namespace lesson13

// Atomics that the server's device refuses.
#pragma once

#include <cstdlib>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "examples/common/cm_client.hpp"
#include "words.hpp"

namespace step11 {

/// A FETCH_ADD of 1 by this key, `at` bytes behind the first word, that is to complete as `wanted`.
/// It ends its queue pair, so it has a connection of its own (step 04). Throws util::Error where it
/// ends in another way.
inline void be_refused(const common::ClientOptions& options, Key key, std::size_t at,
                       ibv_wc_status wanted, runlog::Log& log, util::StopSignal& stop) {
    common::CmClient client(options, 1, log, stop);
    std::uint64_t found = 0;
    const verbs::Mr mr = verbs::register_memory(
        client.pd(), std::as_writable_bytes(std::span(&found, 1)), IBV_ACCESS_LOCAL_WRITE);
    client.make_qp({.max_send_wr = 1,
                    .max_recv_wr = 1,
                    .max_send_sge = 1,
                    .max_recv_sge = 1,
                    .max_inline_data = 0},
                   IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);
    const auto request = static_cast<std::byte>(key);
    const cm::Capability remote = client.connect({&request, 1});

    ibv_sge piece = common::piece_of(*mr);
    ibv_send_wr wr{};
    wr.wr_id = 1;
    wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.wr.atomic.remote_addr = remote.va + at;
    wr.wr.atomic.rkey = remote.rkey;
    wr.wr.atomic.compare_add = 1;
    client.announce(wr);
    ibv_send_wr* refused = nullptr;
    if (const int rc = ibv_post_send(client.qp(), &wr, &refused); rc != 0) {
        // Some libraries look at the address themselves, but not in the newer way to post.
        log.note(fmt::format("ibv_post_send says {}: posted by ibv_wr_atomic_fetch_add instead",
                             strerrorname_np(std::abs(rc))));
        ibv_qp_ex* qp = ibv_qp_to_qp_ex(client.qp());
        ibv_wr_start(qp);
        qp->wr_id = wr.wr_id;
        qp->wr_flags = wr.send_flags;
        ibv_wr_atomic_fetch_add(qp, remote.rkey, remote.va + at, 1);
        ibv_wr_set_sge(qp, piece.lkey, piece.addr, piece.length);
        util::check_rc(ibv_wr_complete(qp), "ibv_wr_complete");
    }
    client.expect_status(wanted);
    log.event("qp_state", verbs::query_state(client.qp()));
    client.disconnect();
}

}  // namespace step11

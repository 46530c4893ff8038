// Lesson 14, part 3: a memory window of type 2. A request in the send queue binds it to one queue
// pair, and the peer can invalidate its rkey.
// Source: ibv_alloc_mw(3), ibv_post_send(3); IBTA volume 1, 10.6.
#pragma once

#include "windows.hpp"

namespace lesson14 {

inline void try_type_2(const Host& host) {
    // 1. A region with IBV_ACCESS_MW_BIND, two connected queue pairs, and a window.
    const Attempts attempts(host.log, 2);
    const Exposed exposed(host, 4 * Exposed::window_length);
    const Pair pair(host);
    rdma::Mw mw{CHECK_PTR(ibv_alloc_mw(host.pd, IBV_MW_TYPE_2))};

    // 2. Bind it. The owner chooses the last byte of the rkey: a new value each time, so that an
    // old rkey is never valid again.
    ibv_send_wr bind{
        .opcode = IBV_WR_BIND_MW,
        .send_flags = IBV_SEND_SIGNALED,
        .bind_mw = {.mw = mw.get(),
                    .rkey = ibv_inc_rkey(mw->rkey),
                    .bind_info = {.mr = exposed.mr.get(),
                                  .addr = reinterpret_cast<std::uintptr_t>(exposed.window.data()),
                                  .length = exposed.window.size(),
                                  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}}};
    ibv_send_wr* bad_wr = nullptr;
    util::check_rc(ibv_post_send(pair.owner(), &bind, &bad_wr), "ibv_post_send(BIND_MW)");
    attempts.succeeds("bind to 4 KiB", pair.completion(pair.owner()).status);
    const std::uint32_t rkey = bind.bind_mw.rkey;

    // 3. The peer writes into the window.
    attempts.succeeds("WRITE into the window",
                      pair.write(exposed.source, exposed.window.data(), rkey));

    // 4. "Done": a SEND that also invalidates the rkey. It needs no payload.
    ibv_recv_wr receive{};
    ibv_recv_wr* bad_recv = nullptr;
    CHECK_RC(ibv_post_recv(pair.owner(), &receive, &bad_recv));
    ibv_send_wr done{
        .opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = rkey};
    util::check_rc(ibv_post_send(pair.requester(), &done, &bad_wr), "ibv_post_send(SEND_WITH_INV)");
    attempts.succeeds("SEND with invalidate, from the peer",
                      pair.completion(pair.requester()).status);

    // 5. The completion of the receive gives the invalidated rkey.
    const ibv_wc wc = pair.completion(pair.owner());
    if (wc.status != IBV_WC_SUCCESS || wc.invalidated_rkey != rkey)
        throw util::Error("the receiver's completion does not name the invalidated key.");
    // Soft-RoCE (Linux 6.1, rxe_resp.c) sets the kernel's flag, which has another meaning in user
    // space.
    if ((wc.wc_flags & IBV_WC_WITH_INV) == 0)
        host.log.note(fmt::format(
            "the completion names the key, but its flags ({:#x}) have no IBV_WC_WITH_INV ({:#x})",
            wc.wc_flags, static_cast<unsigned>(IBV_WC_WITH_INV)));
    attempts.is_refused("WRITE with the invalidated key",
                        pair.write(exposed.source, exposed.window.data(), rkey));

    // 6. Deallocate the window.
    CHECK_RC(ibv_dealloc_mw(mw.release()));
}

}  // namespace lesson14

// Lesson 14, part 3: a memory window of type 1. Its owner can bind and unbind it repeatedly; it is
// valid for all queue pairs of the protection domain.
// Source: ibv_alloc_mw(3), ibv_bind_mw(3); IBTA volume 1, 10.6.
#pragma once

#include "windows.hpp"

namespace lesson14 {

inline void try_type_1(const Host& host) {
    // 1. A region with IBV_ACCESS_MW_BIND, and two connected queue pairs.
    const Attempts attempts(host.log, 1);
    const Exposed exposed(host, 4 * Exposed::window_length);
    const Pair pair(host);

    // 2. A window: an rkey without memory.
    rdma::Mw mw{CHECK_PTR(ibv_alloc_mw(host.pd, IBV_MW_TYPE_1))};

    // 3. Bind it to a part of the region. libibverbs posts a request for this, which completes, and
    // writes the new rkey to mw->rkey.
    ibv_mw_bind bind{.send_flags = IBV_SEND_SIGNALED,
                     .bind_info = {.mr = exposed.mr.get(),
                                   .addr = reinterpret_cast<std::uintptr_t>(exposed.window.data()),
                                   .length = exposed.window.size(),
                                   .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};
    CHECK_RC(ibv_bind_mw(pair.owner(), mw.get(), &bind));
    attempts.succeeds("bind to 4 KiB", pair.completion(pair.owner()).status);
    const std::uint32_t rkey = mw->rkey;

    // 4. The peer writes into the window, and outside it.
    attempts.succeeds("WRITE into the window",
                      pair.write(exposed.source, exposed.window.data(), rkey));
    const ibv_wc_status beside = pair.write(exposed.source, exposed.pages.bytes().data(), rkey);
    attempts.log("WRITE outside it, in the same region", beside);
    if (beside == IBV_WC_SUCCESS)
        host.log.note(
            "this device checks the bounds of the region, not of the window: the peer must be "
            "trusted");

    // 5. The owner revokes the rkey by binding the window with length 0. A refusal has broken the
    // connection: use another pair.
    const Pair again(host);
    bind.bind_info.length = 0;
    CHECK_RC(ibv_bind_mw(again.owner(), mw.get(), &bind));
    attempts.succeeds("bind to nothing", again.completion(again.owner()).status);
    attempts.is_refused("WRITE with the old key",
                        again.write(exposed.source, exposed.window.data(), rkey));

    // 6. Deallocate the window.
    CHECK_RC(ibv_dealloc_mw(mw.release()));
}

}  // namespace lesson14

// Lesson 14, part 3: memory windows, which grant and revoke access without a registration.
// Source: ibv_alloc_mw(3), ibv_bind_mw(3), ibv_post_send(3); IBTA volume 1, 10.6.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "pages.hpp"
#include "pair.hpp"
#include "rdma/names.hpp"
#include "sizes.hpp"

namespace lesson14 {

/// Memory whose region allows windows, and the part that a window exposes.
struct Exposed {
    static constexpr std::size_t window_length = 4096;

    Pages pages;
    rdma::Mr mr;
    std::span<std::byte> window;  // the second page
    ibv_sge source{};             // what is written into it

    Exposed(const Host& host, std::size_t length) : pages(length, Backing::small) {
        pages.touch();
        const std::span<std::byte> memory = pages.bytes();
        mr.reset(CHECK_PTR(
            ibv_reg_mr(host.pd, memory.data(), memory.size(),
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND)));
        window = memory.subspan(window_length, window_length);
        source = sge_of(memory.last(64), *mr);
    }
};

/// Logs the result of a request that must succeed, or that the device must refuse. Throws
/// util::Error on another result.
class Attempts {
  public:
    Attempts(runlog::Log& log, unsigned type) : log_(log), type_(type) {}

    void log(std::string_view what, ibv_wc_status status) const {
        log_.event("mw", {{"type", type_}, {"what", what}, {"status", rdma::name_of(status)}});
    }
    void succeeds(std::string_view what, ibv_wc_status status) const {
        log(what, status);
        if (status != IBV_WC_SUCCESS)
            throw util::Error(
                fmt::format("the device refused an operation that it must allow: {}.", what));
    }
    void is_refused(std::string_view what, ibv_wc_status status) const {
        log(what, status);
        if (status == IBV_WC_SUCCESS)
            throw util::Error(
                fmt::format("the device allowed an operation that it must refuse: {}.", what));
    }

  private:
    runlog::Log& log_;
    unsigned type_;
};

/// Type 1: its owner can bind and unbind it repeatedly; it is valid for all queue pairs of the
/// protection domain.
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

/// Type 2: a request in the send queue binds it to one queue pair, and the peer can invalidate its
/// rkey.
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

/// Compares binding a window with registering the same memory.
inline void measure_binding(const Host& host, std::uint64_t repeats) {
    const Exposed exposed(host, std::size_t{2} << 20);
    const Pair pair(host);
    rdma::Mw mw{CHECK_PTR(ibv_alloc_mw(host.pd, IBV_MW_TYPE_1))};
    for (const std::size_t length : {Exposed::window_length, exposed.pages.bytes().size()}) {
        const std::span<std::byte> part = exposed.pages.bytes().first(length);
        std::vector<std::uint64_t> bind_ns, reg_ns;
        {
            const common::HeldTrace held;

            // 1. Bind and wait for the completion.
            ibv_mw_bind bind{.send_flags = IBV_SEND_SIGNALED,
                             .bind_info = {.mr = exposed.mr.get(),
                                           .addr = reinterpret_cast<std::uintptr_t>(part.data()),
                                           .length = part.size(),
                                           .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};
            while (bind_ns.size() < repeats) {
                ibv_wc wc{};
                bind_ns.push_back(time_of([&] {
                    CHECK_RC(ibv_bind_mw(pair.owner(), mw.get(), &bind));
                    wc = pair.completion(pair.owner());
                }));
                if (wc.status != IBV_WC_SUCCESS)
                    throw util::Error(fmt::format("binding a window completed with {}.",
                                                  rdma::name_of(wc.status)));
            }

            // 2. Register.
            while (reg_ns.size() < repeats) {
                ibv_mr* mr = nullptr;
                reg_ns.push_back(time_of([&] {
                    mr = CHECK_PTR(ibv_reg_mr(host.pd, part.data(), part.size(),
                                              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
                }));
                CHECK_RC(ibv_dereg_mr(mr));
            }
        }
        const Spread binding(std::move(bind_ns)), registering(std::move(reg_ns));
        host.log.event("mw_cost", {{"len", length},
                                   {"repeats", repeats},
                                   {"bind_min_ns", binding.min},
                                   {"bind_p50_ns", binding.p50},
                                   {"bind_max_ns", binding.max},
                                   {"reg_p50_ns", registering.p50}});
    }
    CHECK_RC(ibv_dealloc_mw(mw.release()));
}

}  // namespace lesson14

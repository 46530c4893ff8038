// Memory windows: a key to a part of a region, given and taken back without a registration.
// Source: ibv_alloc_mw(3), ibv_bind_mw(3), ibv_post_send(3); IBTA volume 1, 10.6.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cost.hpp"
#include "pair.hpp"
#include "runlog/log.hpp"
#include "util/error.hpp"
#include "verbs/names.hpp"

namespace step13 {

class Windows {
  public:
    Windows(const Device& device, runlog::Log& log)
        : device_(device),
          log_(log),
          pages_(std::size_t{2} << 20, Backing::small),
          memory_((pages_.touch(), pages_.bytes())),
          region_(verbs::register_memory(
              device.pd, memory_,
              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND)),
          source_(memory_.last(64)),
          source_mr_(verbs::register_memory(device.pd, source_, IBV_ACCESS_LOCAL_WRITE)) {
        window_ = memory_.subspan(4096, 4096);
    }

    // Type 1: bound and unbound by the verb, again and again, for whoever has the key.
    void type_1() {
        Pair pair(device_);
        const verbs::Mw mw = allocate(IBV_MW_TYPE_1);
        must(1, "bind to 4 KiB", bind_1(pair, mw.get(), window_));
        must(1, "WRITE into the window", write(pair, window_, mw->rkey));
        const ibv_wc_status beside = write(pair, memory_.first(4096), mw->rkey);
        say(1, "WRITE beside it, in the same region", beside);
        if (beside == IBV_WC_SUCCESS)
            log_.note(
                "this device holds a window's user to the bounds of the region, not to the "
                "window's: it has to be trusted");
        Pair again(device_);  // a refusal breaks the connection
        const std::uint32_t old_rkey = mw->rkey;
        must(1, "bind to nothing", bind_1(again, mw.get(), {}));
        refused(1, "WRITE with the old key", write(again, window_, old_rkey));
    }

    // Type 2: bound by a request, to one queue pair; the peer can give the key back.
    void type_2() {
        Pair pair(device_);
        const verbs::Mw mw = allocate(IBV_MW_TYPE_2);
        must(2, "bind to 4 KiB", bind_2(pair, mw.get(), window_));
        must(2, "WRITE into the window", write(pair, window_, mw->rkey));
        const ibv_wc wc = pair.send_with_invalidate(mw->rkey);
        must(2, "SEND with invalidate, from the peer", wc.status);
        if (wc.invalidated_rkey != mw->rkey)
            throw util::Error("the receiver's completion does not name the key that has gone.");
        // Soft-RoCE (Linux 6.1, rxe_resp.c) sets the kernel's bit for it, which means something
        // else to a program.
        if ((wc.wc_flags & IBV_WC_WITH_INV) == 0)
            log_.note(
                fmt::format("the completion names the key, but its flags ({:#x}) have no "
                            "IBV_WC_WITH_INV ({:#x})",
                            wc.wc_flags, static_cast<unsigned>(IBV_WC_WITH_INV)));
        refused(2, "WRITE with the key that has gone", write(pair, window_, mw->rkey));
    }

    // What a window costs: no page is looked at.
    void cost(std::uint64_t repeats) {
        Pair pair(device_);
        const verbs::Mw mw = allocate(IBV_MW_TYPE_1);
        for (const std::size_t length : {std::size_t{4096}, memory_.size()}) {
            const auto part = memory_.first(length);
            std::vector<std::uint64_t> bind, reg;
            for (std::uint64_t i = 0; i < repeats; ++i) {
                bind.push_back(time_of([&] { expect_success(bind_1(pair, mw.get(), part)); }));
                verbs::Mr mr;
                reg.push_back(time_of([&] {
                    mr = verbs::register_memory(device_.pd, part,
                                                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
                }));
            }
            const Spread binding(std::move(bind)), registering(std::move(reg));
            log_.event("mw_cost", {{"len", length},
                                   {"repeats", repeats},
                                   {"bind_min_ns", binding.min},
                                   {"bind_p50_ns", binding.p50},
                                   {"bind_max_ns", binding.max},
                                   {"reg_p50_ns", registering.p50}});
        }
    }

  private:
    verbs::Mw allocate(ibv_mw_type type) {
        return verbs::Mw{util::check_ptr(ibv_alloc_mw(device_.pd, type), "ibv_alloc_mw")};
    }

    ibv_mw_bind_info info(std::span<std::byte> part) const {
        return {.mr = region_.get(),
                .addr = reinterpret_cast<std::uintptr_t>(part.data()),
                .length = part.size(),
                .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
    }

    ibv_wc_status bind_1(Pair& pair, ibv_mw* mw, std::span<std::byte> part) const {
        ibv_mw_bind bind{.wr_id = 0, .send_flags = IBV_SEND_SIGNALED, .bind_info = info(part)};
        util::check_rc(ibv_bind_mw(pair.owner(), mw, &bind), "ibv_bind_mw");
        return pair.owner_status();
    }

    // The owner chooses the key's last byte: another one each time.
    ibv_wc_status bind_2(Pair& pair, ibv_mw* mw, std::span<std::byte> part) const {
        ibv_send_wr wr{};
        wr.opcode = IBV_WR_BIND_MW;
        wr.bind_mw.mw = mw;
        wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
        wr.bind_mw.bind_info = info(part);
        const ibv_wc_status status = pair.post_at_owner(wr);
        if (status == IBV_WC_SUCCESS)
            mw->rkey = wr.bind_mw.rkey;
        return status;
    }

    ibv_wc_status write(Pair& pair, std::span<std::byte> to, std::uint32_t rkey) const {
        return pair.write(*source_mr_, to.data(), rkey);
    }

    static void expect_success(ibv_wc_status status) {
        if (status != IBV_WC_SUCCESS)
            throw util::Error(fmt::format("binding a window ended as {}.", verbs::name_of(status)));
    }

    void must(unsigned type, std::string_view what, ibv_wc_status status) {
        say(type, what, status);
        if (status != IBV_WC_SUCCESS)
            throw util::Error(fmt::format("the device refused what it has to do: {}.", what));
    }
    void refused(unsigned type, std::string_view what, ibv_wc_status status) {
        say(type, what, status);
        if (status == IBV_WC_SUCCESS)
            throw util::Error(fmt::format("the device allowed what it has to refuse: {}.", what));
    }
    void say(unsigned type, std::string_view what, ibv_wc_status status) {
        log_.event("mw", {{"type", type}, {"what", what}, {"status", verbs::name_of(status)}});
    }

    Device device_;
    runlog::Log& log_;
    Pages pages_;
    std::span<std::byte> memory_, window_;
    verbs::Mr region_;
    std::span<std::byte> source_;
    verbs::Mr source_mr_;
};

}  // namespace step13

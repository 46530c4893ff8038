// Lesson 14, part 3: the cost of binding a window, compared with registering the same memory.
#pragma once

#include <vector>

#include "cost.hpp"
#include "windows.hpp"

namespace lesson14 {

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

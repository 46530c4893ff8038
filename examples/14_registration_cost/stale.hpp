// Lesson 14, part 2: the effect of munmap on a registration cache that is not notified.
#pragma once

#include <algorithm>

#include "cache.hpp"
#include "pages.hpp"
#include "pair.hpp"
#include "rdma/names.hpp"

namespace lesson14 {

inline void write_to_remapped_memory(const Host& host, bool is_told) {
    // 1. A cache registers memory.
    const Pair pair(host);
    const Pages source(small_page(), Backing::small);
    std::ranges::fill(source.bytes(), std::byte{'x'});
    const rdma::Mr source_mr{CHECK_PTR(
        ibv_reg_mr(host.pd, source.bytes().data(), source.bytes().size(), IBV_ACCESS_LOCAL_WRITE))};
    const Pages memory(small_page(), Backing::small);
    rdma::MrCache cache = make_cache(host.pd, 1 << 20);
    cache.take(memory.bytes());

    // 2. The address gets other pages, but the region keeps the old ones.
    if (is_told)
        cache.forget(memory.bytes());
    memory.remap();

    // 3. The program uses the memory again: the cache has a region for this address. A peer writes.
    const auto mr = cache.take(memory.bytes());
    const ibv_wc_status status =
        pair.write(sge_of(source.bytes(), *source_mr), memory.bytes().data(), mr->rkey);

    // 4. Check whether the bytes arrived in the memory.
    const bool is_written = memory.bytes()[0] == std::byte{'x'};
    host.log.event("remapped", {{"cache", is_told ? "told" : "not told"},
                                {"status", rdma::name_of(status)},
                                {"memory", is_written ? "written" : "NOT written"}});
}

}  // namespace lesson14

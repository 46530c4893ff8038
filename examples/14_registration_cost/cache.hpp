// Lesson 14, part 2: how much does a cache of registrations save, and what happens if memory that
// it knows is unmapped?
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "pages.hpp"
#include "pair.hpp"
#include "rdma/mr_cache.hpp"
#include "rdma/names.hpp"
#include "sizes.hpp"

namespace lesson14 {

struct CacheOptions {
    std::uint64_t room = 4 << 20;  // bytes that stay registered
    std::uint64_t accesses = 200;
    std::uint64_t seed = 1;
};

/// Returns buffer numbers by Zipf's law: buffer n is used 1 / (n + 1) times as often as buffer 0.
/// The same seed gives the same numbers on any host.
inline std::vector<std::size_t> zipf(std::uint64_t buffers, std::uint64_t count,
                                     std::uint64_t seed) {
    std::vector<double> sums;
    for (double sum = 0; sums.size() < buffers; sums.push_back(sum))
        sum += 1.0 / static_cast<double>(sums.size() + 1);
    std::mt19937_64 random(seed);
    std::vector<std::size_t> uses(count);
    for (std::size_t& use : uses) {
        const double part = static_cast<double>(random() >> 11) * 0x1p-53;  // [0, 1)
        const auto at = std::ranges::upper_bound(sums, part * sums.back());
        use = static_cast<std::size_t>(at - sums.begin());
    }
    return uses;
}

/// Returns a cache that registers memory with ibv_reg_mr.
inline rdma::MrCache make_cache(ibv_pd* pd, std::uint64_t room) {
    return {room, [pd](std::span<std::byte> memory) {
                return rdma::Mr{
                    CHECK_PTR(ibv_reg_mr(pd, memory.data(), memory.size(),
                                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))};
            }};
}

inline void use_buffers(const Host& host, const CacheOptions& options) {
    // 1. The buffers, and the order of their use.
    constexpr std::uint64_t buffers = 64;
    constexpr std::uint64_t length = 256 << 10;
    constexpr std::uint64_t turn = 1000;
    const Pages pages(buffers * length, Backing::small);
    pages.touch();
    rdma::MrCache cache = make_cache(host.pd, options.room);
    std::uint64_t done = 0;
    std::vector<std::uint64_t> each, hit, miss;
    {
        common::HeldTrace held;
        for (const std::size_t use : zipf(buffers, options.accesses, options.seed)) {
            host.check_stop();
            if (++done % turn == 0)
                held.write();
            const auto buffer = pages.bytes().subspan(use * length, length);

            // 2. Without a cache: one registration per use.
            each.push_back(time_of([&] {
                ibv_mr* mr =
                    CHECK_PTR(ibv_reg_mr(host.pd, buffer.data(), buffer.size(),
                                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
                CHECK_RC(ibv_dereg_mr(mr));
            }));

            // 3. With a cache: a lookup, and a registration on a miss. If the cache is full, it
            // evicts the least recently used region.
            const std::uint64_t hits = cache.counts().hits;
            const std::uint64_t took = time_of([&] { cache.take(buffer); });
            (cache.counts().hits > hits ? hit : miss).push_back(took);
        }
    }
    const auto& counts = cache.counts();
    runlog::Fields fields{{"buffers", buffers},
                          {"len", length},
                          {"room", options.room},
                          {"seed", options.seed},
                          {"accesses", options.accesses},
                          {"hits", counts.hits},
                          {"misses", counts.misses},
                          {"evictions", counts.evictions},
                          {"hit_percent", counts.hits * 100 / options.accesses},
                          {"each_p50_ns", Spread(std::move(each)).p50}};
    if (!hit.empty())
        fields.push_back({"hit_p50_ns", Spread(std::move(hit)).p50});
    fields.push_back({"miss_p50_ns", Spread(std::move(miss)).p50});  // the first use is a miss
    host.log.event("mr_cache", std::move(fields));
}

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

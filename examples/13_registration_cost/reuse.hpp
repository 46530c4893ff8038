// A program that uses some of its buffers often and most of them seldom, with a cache of
// registrations and without; and what a cache does that nobody tells of munmap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "cost.hpp"
#include "pair.hpp"
#include "runlog/log.hpp"
#include "verbs/mr_cache.hpp"
#include "verbs/names.hpp"

namespace step13 {

struct Reuse {
    std::uint64_t buffers = 64;
    std::uint64_t length = 256 << 10;
    std::uint64_t room = 4 << 20;
    std::uint64_t accesses = 1000;
    std::uint64_t seed = 1;
};

/// Buffer n is used 1 / (n + 1) times as often as buffer 0: Zipf's law, as caches meet it. The same
/// numbers for the same seed, on any machine.
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

inline verbs::MrCache make_cache(ibv_pd* pd, std::uint64_t room) {
    return {room, [pd](std::span<std::byte> memory) {
                return verbs::register_memory(pd, memory,
                                              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
            }};
}

/// What both ways take. False where a stop was requested.
inline bool compare(ibv_pd* pd, const Reuse& reuse, runlog::Log& log, util::StopSignal& stop) {
    const Pages pages(reuse.buffers * reuse.length, Backing::small);
    pages.touch();
    const auto buffer = [&](std::size_t i) {
        return pages.bytes().subspan(i * reuse.length, reuse.length);
    };
    const auto uses = zipf(reuse.buffers, reuse.accesses, reuse.seed);

    verbs::MrCache none = make_cache(pd, 0);
    verbs::MrCache cache = make_cache(pd, reuse.room);
    std::uint64_t each_ns = 0, cached_ns = 0;
    for (const std::size_t use : uses) {
        if (stop.requested())
            return false;
        each_ns += time_of([&] { none.take(buffer(use)); });
        cached_ns += time_of([&] { cache.take(buffer(use)); });
    }
    const auto& counts = cache.counts();
    log.event("mr_cache", {{"buffers", reuse.buffers},
                           {"len", reuse.length},
                           {"room", reuse.room},
                           {"seed", reuse.seed},
                           {"accesses", reuse.accesses},
                           {"hits", counts.hits},
                           {"misses", counts.misses},
                           {"evictions", counts.evictions},
                           {"hit_percent", counts.hits * 100 / reuse.accesses},
                           {"each_ns", each_ns},
                           {"cached_ns", cached_ns}});
    return true;
}

/// Memory goes, other memory comes to the same address, and a peer writes: once with a cache that
/// was not told, once with one that was.
inline void remap(const Device& device, runlog::Log& log) {
    const Pages source(small_page(), Backing::small);
    std::ranges::fill(source.bytes(), std::byte{'x'});
    const verbs::Mr from =
        verbs::register_memory(device.pd, source.bytes(), IBV_ACCESS_LOCAL_WRITE);
    const Pages memory(small_page(), Backing::small);
    for (const bool is_told : {false, true}) {
        Pair pair(device);
        verbs::MrCache cache = make_cache(device.pd, 1 << 20);
        cache.take(memory.bytes());
        if (is_told)
            cache.forget(memory.bytes());
        memory.remap();
        const auto mr = cache.take(memory.bytes());
        const ibv_wc_status status = pair.write(*from, memory.bytes().data(), mr->rkey);
        const bool is_changed = memory.bytes()[0] == std::byte{'x'};
        log.event("remapped", {{"cache", is_told ? "told" : "not told"},
                               {"status", verbs::name_of(status)},
                               {"memory", is_changed ? "written" : "NOT written"}});
    }
}

}  // namespace step13

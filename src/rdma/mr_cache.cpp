#include "rdma/mr_cache.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rdma {

MrCache::MrCache(std::uint64_t most_bytes, Register register_memory)
    : most_bytes_(most_bytes), register_(std::move(register_memory)) {}

std::shared_ptr<ibv_mr> MrCache::take(std::span<std::byte> memory) {
    std::byte* first = memory.data();
    std::byte* end = first + memory.size();
    auto region = first_overlap(first);
    if (region != by_address_.end() && region->second->first <= first &&
        end <= region->second->end) {
        ++counts_.hits;
        by_use_.splice(by_use_.begin(), by_use_, region->second);
        return region->second->mr;
    }
    ++counts_.misses;
    // Merge all overlapping regions into it. Both ends are mapped, so everything between them is,
    // too.
    while (region != by_address_.end() && region->second->first < end) {
        first = std::min(first, region->second->first);
        end = std::max(end, region->second->end);
        region = drop(region);
        ++counts_.merges;
    }
    // Before the registration: pages of old regions count against the locked-memory limit, too.
    const auto size = static_cast<std::uint64_t>(end - first);
    const bool is_kept = make_room(size);
    auto mr = register_({first, end});
    if (is_kept) {
        by_use_.push_front({first, end, mr});
        by_address_.emplace(first, by_use_.begin());
        bytes_ += size;
    }
    return mr;
}

void MrCache::forget(std::span<const std::byte> memory) {
    const std::byte* end = memory.data() + memory.size();
    auto region = first_overlap(memory.data());
    while (region != by_address_.end() && region->second->first < end) {
        region = drop(region);
        ++counts_.forgotten;
    }
}

// Returns the first region with a byte at or after `first`.
MrCache::ByAddress::iterator MrCache::first_overlap(const std::byte* first) {
    auto region = by_address_.upper_bound(first);
    if (region != by_address_.begin() && std::prev(region)->second->end > first)
        --region;
    return region;
}

MrCache::ByAddress::iterator MrCache::drop(ByAddress::iterator region) {
    bytes_ -= region->second->size();
    by_use_.erase(region->second);
    return by_address_.erase(region);
}

bool MrCache::make_room(std::uint64_t size) {
    std::uint64_t in_use = 0;
    for (const Region& region : by_use_)
        if (region.mr.use_count() > 1)
            in_use += region.size();
    if (in_use + size > most_bytes_)
        return false;
    for (auto region = by_use_.end(); bytes_ + size > most_bytes_;) {
        --region;
        if (region->mr.use_count() > 1)
            continue;
        const auto behind = std::next(region);
        drop(by_address_.find(region->first));
        region = behind;
        ++counts_.evictions;
    }
    return true;
}

}  // namespace rdma

// Memory regions that stay registered after their use, for the next one: registering costs time for
// every page, a look into a map does not.
//
// What this cache cannot know is that memory was unmapped: a region that is kept holds the old
// pages pinned, and whatever is mapped at their address later is other memory. Whoever calls
// munmap(2), mremap(2), or free(3) of what the C library maps by itself, says so with forget(),
// before. UCX and libfabric learn of it by hooks in the C library or from userfaultfd(2):
// https://github.com/openucx/ucx/wiki/Memory-hooks, fi_mr(3) (FI_MR_CACHE_MONITOR).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>

#include <infiniband/verbs.h>

namespace rdma {

/// Of one protection domain and one set of access rights. For one thread.
class MrCache {
  public:
    /// Registers, and deregisters when the last copy goes: a rdma::Mr becomes one by itself. What
    /// it throws, take() throws, and the cache has lost only what was to make room.
    using Register = std::function<std::shared_ptr<ibv_mr>(std::span<std::byte>)>;

    struct Counts {
        std::uint64_t hits = 0;
        std::uint64_t misses = 0;     ///< each of them a registration
        std::uint64_t evictions = 0;  ///< for want of room
        std::uint64_t forgotten = 0;  ///< as the memory goes
        std::uint64_t merges = 0;     ///< as a wider region covers it
    };

    /// Keeps regions of `most_bytes` together.
    MrCache(std::uint64_t most_bytes, Register register_memory);

    /// A region that covers `memory` (not empty), in use until the returned pointer and its copies
    /// are gone. One that is in use is never evicted. A range that overlaps kept regions without
    /// lying in one is registered together with them, so that kept regions never overlap. Where
    /// there is no room, as all is in use or `memory` is too large, the region is not kept.
    std::shared_ptr<ibv_mr> take(std::span<std::byte> memory);

    /// `memory` is about to be unmapped: no region with a byte of it is given out again. One in use
    /// stays registered until its user lets go of it.
    void forget(std::span<const std::byte> memory);

    const Counts& counts() const { return counts_; }
    std::uint64_t bytes() const { return bytes_; }  ///< of the regions that are kept
    std::size_t regions() const { return by_use_.size(); }

  private:
    struct Region {
        std::byte* first;
        std::byte* end;
        std::shared_ptr<ibv_mr> mr;

        std::uint64_t size() const { return static_cast<std::uint64_t>(end - first); }
    };
    using ByUse = std::list<Region>;  // the one used last is at the front
    using ByAddress = std::map<const std::byte*, ByUse::iterator>;

    ByAddress::iterator first_overlap(const std::byte* first);
    ByAddress::iterator drop(ByAddress::iterator region);
    bool make_room(std::uint64_t size);

    std::uint64_t most_bytes_;
    Register register_;
    ByUse by_use_;
    ByAddress by_address_;  // disjoint
    std::uint64_t bytes_ = 0;
    Counts counts_;
};

}  // namespace rdma

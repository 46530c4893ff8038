// A cache of memory regions that stay registered after use: registering costs time per page, a map
// lookup does not.
//
// The cache cannot detect that memory was unmapped: a cached region keeps the old pages pinned, and
// memory mapped at that address later is different memory. Call forget() before munmap(2),
// mremap(2), or free(3) of memory that the C library maps separately. UCX and libfabric detect this
// with hooks in the C library or with userfaultfd(2):
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

/// For one protection domain, one set of access rights, and one thread.
class MrCache {
  public:
    /// Registers memory, and deregisters it with the last copy; an rdma::Mr converts to one. take()
    /// passes on its exceptions; the cache has then lost only the regions that were to make room.
    using Register = std::function<std::shared_ptr<ibv_mr>(std::span<std::byte>)>;

    struct Counts {
        std::uint64_t hits = 0;
        std::uint64_t misses = 0;     ///< each one is a registration
        std::uint64_t evictions = 0;  ///< to make room
        std::uint64_t forgotten = 0;  ///< memory was about to be unmapped
        std::uint64_t merges = 0;     ///< replaced by a wider region
    };

    /// Keeps regions of at most `most_bytes` in total.
    MrCache(std::uint64_t most_bytes, Register register_memory);

    /// Returns a region that covers `memory` (not empty), in use until the returned pointer and its
    /// copies are gone. Regions in use are never evicted. A range that overlaps kept regions
    /// without lying in one is registered together with them, so that kept regions never overlap.
    /// If there is no room, because all are in use or `memory` is too large, the region is not
    /// kept.
    std::shared_ptr<ibv_mr> take(std::span<std::byte> memory);

    /// Call before unmapping `memory`: regions that overlap it are not returned again. One in use
    /// stays registered until its user releases it.
    void forget(std::span<const std::byte> memory);

    const Counts& counts() const { return counts_; }
    std::uint64_t bytes() const { return bytes_; }  ///< total of the kept regions
    std::size_t regions() const { return by_use_.size(); }

  private:
    struct Region {
        std::byte* first;
        std::byte* end;
        std::shared_ptr<ibv_mr> mr;

        std::uint64_t size() const { return static_cast<std::uint64_t>(end - first); }
    };
    using ByUse = std::list<Region>;  // most recently used first
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

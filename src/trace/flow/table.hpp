// Streams by key, and in the order of their last use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/flow/pool.hpp"
#include "trace/flow/stream.hpp"

namespace flow {

/// A hash table with open addressing over a pool of streams. Nothing is allocated after the
/// constructor.
class StreamTable {
  public:
    /// `capacity`: at least 1.
    explicit StreamTable(std::size_t capacity);

    /// Returns the stream with this key, or no_index.
    PoolIndex find(const StreamKey& key) const;

    /// Adds a stream for a new key. The table must not be full.
    PoolIndex add(const StreamKey& key);
    bool is_full() const { return streams_.in_use() == streams_.capacity(); }

    /// Marks the stream as the most recently used one.
    void touch(PoolIndex index) {
        if (index != newest_)
            move_to_front(index);
    }
    /// The least recently used stream. The table must not be empty.
    PoolIndex oldest() const { return oldest_; }

    /// Frees the key for another stream; the stream stays.
    void close(PoolIndex index);
    /// Removes the stream.
    void remove(PoolIndex index);

    Stream& operator[](PoolIndex index) { return streams_[index]; }
    const Stream& operator[](PoolIndex index) const { return streams_[index]; }
    std::size_t size() const { return streams_.in_use(); }
    /// All streams in the order of their numbers.
    std::vector<PoolIndex> by_number() const;

  private:
    struct Slot {
        std::uint32_t tag = 0;  // upper half of the hash: differs for most keys
        PoolIndex index = no_index;
    };
    struct Neighbours {
        PoolIndex newer = no_index;
        PoolIndex older = no_index;
    };

    std::size_t home(std::uint32_t tag) const { return tag & mask_; }
    std::size_t slot_of(PoolIndex index) const;
    void move_to_front(PoolIndex index);
    void unlink(PoolIndex index);
    void link_front(PoolIndex index);

    Pool<Stream> streams_;
    std::vector<Slot> slots_;  // size: a power of two; at most half of it in use
    std::size_t mask_;
    std::vector<Neighbours> order_;  // apart from the streams: moving one touches few cache lines
    PoolIndex newest_ = no_index;
    PoolIndex oldest_ = no_index;
    std::uint64_t number_ = 0;
};

}  // namespace flow

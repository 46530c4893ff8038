// Finds the stream that recently had a request with a given PSN, to pair directions by a guess.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/flow/key.hpp"
#include "trace/flow/pool.hpp"
#include "wire/psn.hpp"

namespace flow {

/// A table of the latest requests of unpaired streams. Later requests overwrite earlier ones. An
/// entry that matches two streams belongs to neither.
class AckIndex {
  public:
    AckIndex();

    /// A stream by pool index and number: pool indexes are reused.
    struct Noted {
        PoolIndex index = no_index;
        std::uint64_t number = 0;
        friend bool operator==(const Noted&, const Noted&) = default;
    };

    /// Records that `stream` sent a request with this PSN that will probably be acknowledged by
    /// PSN. `is_open` returns whether the stream recorded before may still be the one meant.
    template <typename IsOpen>
    void note(const StreamKey& key, wire::Psn psn, const Noted& stream, IsOpen is_open) {
        const std::uint64_t hash = hash_of(key.src, key.dst, key, psn);
        Entry& entry = entries_[hash % entries_.size()];
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        const bool is_shared =
            entry.tag == tag && entry.stream != stream &&
            (entry.is_shared || (entry.stream.index != no_index && is_open(entry.stream)));
        entry = {.tag = tag, .stream = stream, .is_shared = is_shared};
    }

    /// Returns the only stream to the sender of `response` that it may answer; no_index if there is
    /// none, or more than one.
    Noted answered_by(const StreamKey& response, wire::Psn psn) const;

  private:
    struct Entry {
        std::uint32_t tag = 0;
        Noted stream;
        bool is_shared = false;
    };
    static std::uint64_t hash_of(const Host& src, const Host& dst, const StreamKey& key,
                                 wire::Psn psn);

    std::vector<Entry> entries_;
};

}  // namespace flow

// Collectives: calls that all ranks of a job make in a step, and that end when all have done their part (the
// events `collective` and `collective_end`). Of an all_reduce in a ring, also the chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runlog/event.hpp"

namespace logged {

struct Collective {
    std::uint64_t step = 0;
    runlog::Event began;
    std::optional<std::int64_t> took_ns;  ///< nullopt: it did not end
};

/// One of the 4N - 4 WRITEs with immediate data by which a rank of N sends chunks to its right neighbour in one
/// all_reduce of Gloo, two in each step of the ring (gloo/allreduce_ring_chunked.h).
struct Chunk {
    std::uint32_t all_reduce = 0;   ///< its `iteration`
    std::uint32_t sent_before = 0;  ///< chunks that the rank has sent in this all_reduce
    std::uint32_t rank = 0, ranks = 0;

    std::uint32_t step() const { return sent_before / 2 + 1; }
    std::uint32_t to() const { return (rank + 1) % ranks; }
    /// Which of the 2N chunks of the vector.
    std::uint32_t number() const;
    /// "its own", "sum of 2", "complete": the ranks whose values are in it.
    std::string contents() const;
    /// "all_reduce 2 · step 2 · chunk 1 · rank 1 → 0"
    std::string text() const;
};

class Collectives {
  public:
    /// Takes the events of each log in order, also several logs in turn. Returns the chunk that a `post_send`
    /// sends: nullopt if it sends none, or if no `joined` event before it has the rank.
    std::optional<Chunk> learn(const runlog::Event& event);

    /// Adds `by` nanoseconds to all times of the role.
    void shift(const std::string& role, std::int64_t by);

    /// The first 65,536.
    const std::vector<Collective>& all() const { return all_; }

  private:
    // What is known of a role's rank.
    struct Rank {
        std::uint32_t number = 0,
                      ranks = 0;  // ranks: 0 if unknown, or if its chunks are not those of a ring
        std::optional<std::uint64_t> all_reduce;     // that it is in
        std::uint32_t sent = 0;                      // chunks in it
        std::optional<std::size_t> last_collective;  // an index of all_
    };

    void begin(const runlog::Event& event, std::uint64_t step);
    void end(const runlog::Event& event, std::uint64_t step);

    std::map<std::string, Rank> ranks_;  // by role
    std::vector<Collective> all_;
};

}  // namespace logged

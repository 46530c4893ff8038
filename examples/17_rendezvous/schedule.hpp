// Step 17: who writes to whom, and what: the ring, the rounds of a barrier, and the numbers that
// are summed. Nothing here touches a device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace step17 {

inline constexpr std::uint16_t least_ranks = 2;
inline constexpr std::uint16_t most_ranks = 16;
inline constexpr unsigned most_rounds = 4;

/// Rounds of a dissemination barrier: the least number with 2^rounds >= ranks. (Hensgen, Finkel,
/// Manber: Two algorithms for barrier synchronization, 1988.)
constexpr unsigned rounds_of(std::uint16_t ranks) {
    unsigned rounds = 0;
    while ((1u << rounds) < ranks)
        ++rounds;
    return rounds;
}
static_assert(rounds_of(most_ranks) == most_rounds);

/// In a round each rank writes to the one 2^round further on; in round 0 that is its neighbour in
/// the ring.
constexpr std::uint16_t rank_after(std::uint16_t rank, unsigned round, std::uint16_t ranks) {
    return static_cast<std::uint16_t>((rank + (1u << round)) % ranks);
}
constexpr std::uint16_t rank_before(std::uint16_t rank, unsigned round, std::uint16_t ranks) {
    return static_cast<std::uint16_t>((rank + ranks - (1u << round) % ranks) % ranks);
}

/// The ring all-reduce: each rank's numbers are divided into as many chunks as there are ranks. In
/// the first half of the steps sums go round and grow, in the second half they go round complete.
constexpr unsigned steps_of(std::uint16_t ranks) {
    return 2u * (ranks - 1u);
}
constexpr bool is_growing(unsigned step, std::uint16_t ranks) {
    return step < ranks - 1u;
}
/// Which chunk a rank sends to the next one in this step, from 0: the one that it received in the
/// step before.
constexpr unsigned chunk_of(std::uint16_t rank, unsigned step, std::uint16_t ranks) {
    return (rank + 2u * ranks - step) % ranks;
}

inline constexpr std::size_t numbers_of_chunk = 8;

/// What a rank gives to the sum, and what the sum must be.
constexpr std::uint64_t number_of(std::uint16_t rank, std::size_t index) {
    return (rank + std::uint64_t{1}) * (index + 1);
}
constexpr std::uint64_t sum_of(std::uint16_t ranks, std::size_t index) {
    return ranks * (ranks + std::uint64_t{1}) / 2 * (index + 1);
}

}  // namespace step17

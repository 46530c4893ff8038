// Lesson 24: which rank writes what to which: the ring, the rounds of a barrier, and the numbers to
// sum. Pure functions without a device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lesson24 {

inline constexpr std::uint16_t least_ranks = 2;
inline constexpr std::uint16_t most_ranks = 16;
inline constexpr unsigned most_rounds = 4;

/// Returns the rounds of a dissemination barrier: the smallest number with 2^rounds >= ranks.
/// (Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988.)
constexpr unsigned rounds_of(std::uint16_t ranks) {
    unsigned rounds = 0;
    while ((1u << rounds) < ranks)
        ++rounds;
    return rounds;
}
static_assert(rounds_of(most_ranks) == most_rounds);

/// In each round a rank writes to the rank 2^round after it; in round 0 this is its neighbour in
/// the ring.
constexpr std::uint16_t rank_after(std::uint16_t rank, unsigned round, std::uint16_t ranks) {
    return static_cast<std::uint16_t>((rank + (1u << round)) % ranks);
}
constexpr std::uint16_t rank_before(std::uint16_t rank, unsigned round, std::uint16_t ranks) {
    return static_cast<std::uint16_t>((rank + ranks - (1u << round) % ranks) % ranks);
}

/// Ring all-reduce: each rank's numbers are divided into as many chunks as there are ranks. In the
/// first half of the lessons partial sums circulate and grow, in the second half complete sums
/// circulate.
constexpr unsigned steps_of(std::uint16_t ranks) {
    return 2u * (ranks - 1u);
}
constexpr bool is_growing(unsigned step, std::uint16_t ranks) {
    return step < ranks - 1u;
}
/// Returns the chunk, from 0, that a rank sends to the next one in this lesson: the one that it
/// received in the previous lesson.
constexpr unsigned chunk_of(std::uint16_t rank, unsigned step, std::uint16_t ranks) {
    return (rank + 2u * ranks - step) % ranks;
}

inline constexpr std::size_t numbers_of_chunk = 8;

/// Returns a rank's numbers, and their expected sums.
constexpr std::uint64_t number_of(std::uint16_t rank, std::size_t index) {
    return (rank + std::uint64_t{1}) * (index + 1);
}
constexpr std::uint64_t sum_of(std::uint16_t ranks, std::size_t index) {
    return ranks * (ranks + std::uint64_t{1}) / 2 * (index + 1);
}

}  // namespace lesson24

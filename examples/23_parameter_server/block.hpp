// Lesson 23, the weights in the server's memory, and a version that tells readers whether they read
// consistent weights: a sequence lock whose readers are on other hosts.
//
// The version is even between updates and odd during one. Version 2k has the weights for step k,
// from 1; 0: not all workers have connected yet.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "problem.hpp"

namespace lesson23 {

struct Block {
    alignas(64) std::uint64_t version = 0;
    Weights weights{};
};

/// A worker has disconnected: there will be no further weights.
inline constexpr std::uint64_t given_up = ~std::uint64_t{0};

constexpr std::uint64_t version_of_step(std::uint64_t step) {
    return 2 * step;
}

constexpr bool is_resting(std::uint64_t version) {
    return version % 2 == 0;
}

/// Returns true if the weights read between two reads of the version belong to it. Holds only if
/// the first read completes before the weights are read, and the second begins after that.
constexpr bool belong_together(std::uint64_t before, std::uint64_t after) {
    return is_resting(before) && before == after;
}

/// The writer. Its stores must become visible in this order, also to the device.
class BlockWriter {
  public:
    explicit BlockWriter(Block& block) : block_(block) {}

    void begin() {
        version().store(block_.version + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    void write(const Weights& weights, std::size_t from, std::size_t to) {
        for (std::size_t f = from; f < to; ++f)
            std::atomic_ref(block_.weights[f]).store(weights[f], std::memory_order_relaxed);
    }
    void end() { version().store(block_.version + 1, std::memory_order_release); }
    void give_up() { version().store(given_up, std::memory_order_release); }

  private:
    std::atomic_ref<std::uint64_t> version() { return std::atomic_ref(block_.version); }

    Block& block_;
};

}  // namespace lesson23

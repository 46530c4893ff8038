// Lesson 23, the server's memory: the weights, a gradient slot for each worker, and the access
// rights.
#pragma once

#include <vector>

#include "block.hpp"
#include "job.hpp"
#include "rdma/completion.hpp"
#include "util/check.hpp"

namespace lesson23 {

/// Created for the first worker of a job. Every call throws std::system_error on failure.
struct Memory {
    rdma::Pd pd;
    rdma::CompletionQueue completions;  // for all workers' queue pairs
    Block block;
    std::vector<Gradient> slots;  // by rank
    rdma::Mr block_mr;
    std::vector<rdma::Mr> slot_mrs;

    // Each region has its own rkey: no worker can write to the weights or to another worker's slot.
    Memory(ibv_context* context, std::uint16_t workers)
        : pd(CHECK_PTR(ibv_alloc_pd(context))),
          completions(context, 3 * workers),
          slots(workers),
          block_mr(CHECK_PTR(ibv_reg_mr(pd.get(), &block, sizeof block, IBV_ACCESS_REMOTE_READ))) {
        for (Gradient& slot : slots)
            slot_mrs.emplace_back(CHECK_PTR(ibv_reg_mr(
                pd.get(), &slot, sizeof slot, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)));
    }

    /// Returns what the server sends to the worker of this rank.
    Assignment place_of(std::uint16_t rank) const {
        return {capability_of(*slot_mrs[rank]), capability_of(*block_mr), rank};
    }

  private:
    static rdma::Capability capability_of(const ibv_mr& mr) {
        return {
            .va = reinterpret_cast<std::uintptr_t>(mr.addr), .length = mr.length, .rkey = mr.rkey};
    }
};

}  // namespace lesson23

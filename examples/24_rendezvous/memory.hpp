// Lesson 24: a rank's memory: what others write to, and what it sends from. Only the former is
// remotely accessible.
#pragma once

#include <array>
#include <cstddef>

#include "rdma/handles.hpp"
#include "record.hpp"
#include "util/check.hpp"

namespace lesson24 {

using RecordBytes = std::array<std::byte, Record::size>;
using EntryBytes = std::array<std::byte, Entry::size>;
using Sheet = std::array<EntryBytes, most_ranks>;  // of all ranks that have entered, by rank
using Chunk = std::array<std::byte, 8 * numbers_of_chunk>;

/// On rank 0: one slot per rank, with its own rkey.
struct Slot {
    RecordBytes record{};
    EntryBytes entry{};
};

/// On each rank. Each part has one writer, which overwrites it only after all ranks have read it.
/// Barriers alternate between two sets of rounds: the previous rank may have left a barrier and
/// entered the next one before this rank has read the data.
struct Window {
    std::array<RecordBytes, most_ranks> table{};                      // written by rank 0
    Sheet release{};                                                  // written by rank 0
    std::array<std::byte, 128> verdict{};                             // written by rank 0
    std::array<std::array<Sheet, most_rounds>, 2> rounds{};           // by the rank 2^round before
    std::array<Chunk, 2 * std::size_t{most_ranks - 1}> ring_steps{};  // by the previous rank
};

/// Sent data must not change until the request has completed.
struct Desk {
    Slot slot{};
    Sheet sheet{};
    Chunk chunk{};
};

struct Memory {
    Window window;
    Desk desk;
    rdma::Mr window_mr, desk_mr;

    explicit Memory(ibv_pd* pd)
        : window_mr(CHECK_PTR(ibv_reg_mr(pd, &window, sizeof window,
                                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))),
          desk_mr(CHECK_PTR(ibv_reg_mr(pd, &desk, sizeof desk, 0))) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    Memory(Memory&&) = delete;
    Memory& operator=(Memory&&) = delete;
    ~Memory() = default;

    /// Returns the offset of a part, the same in every rank's window.
    template <typename T>
    std::size_t offset_of(const T& part) const {
        return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&part) -
                                        reinterpret_cast<const std::byte*>(&window));
    }
};

/// Returns an sge for a part of a region, or for its first bytes.
template <typename T>
ibv_sge sge_of(const rdma::Mr& mr, const T& part, std::size_t size = sizeof(T)) {
    return {.addr = reinterpret_cast<std::uintptr_t>(&part),
            .length = static_cast<std::uint32_t>(size),
            .lkey = mr->lkey};
}

}  // namespace lesson24

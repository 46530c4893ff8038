// A rank's memory: what others write into, and what it sends from. Only the first can be reached.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "record.hpp"
#include "runlog/log.hpp"
#include "verbs/describe.hpp"
#include "verbs/handles.hpp"

namespace step17 {

using RecordBytes = std::array<std::byte, Record::size>;
using EntryBytes = std::array<std::byte, Entry::size>;
using Sheet = std::array<EntryBytes, most_ranks>;  // of all who have entered, by rank
using Chunk = std::array<std::byte, 8 * numbers_of_chunk>;

/// At rank 0, one for each rank, with a key of its own.
struct Slot {
    RecordBytes record{};
    EntryBytes entry{};
};

/// At each rank. Each part has one writer, who writes it again only when all have seen what was in
/// it; of barriers' rounds there are two for that, in turns: the rank behind may have left a
/// barrier, and entered the next one, before this one has looked.
struct Window {
    std::array<RecordBytes, most_ranks> table{};                      // by rank 0
    Sheet release{};                                                  // by rank 0
    std::array<std::byte, 128> verdict{};                             // by rank 0
    std::array<std::array<Sheet, most_rounds>, 2> rounds{};           // by the rank 2^round behind
    std::array<Chunk, 2 * std::size_t{most_ranks - 1}> ring_steps{};  // by the rank behind
};

/// What is sent must stay as it is until the request has completed.
struct Desk {
    Slot slot{};
    Sheet sheet{};
    Chunk chunk{};
};

class Memory {
  public:
    Memory(ibv_pd* pd, runlog::Log& log)
        : window_mr_(lend(pd, log, window, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)),
          desk_mr_(lend(pd, log, desk, 0)) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    Memory(Memory&&) = delete;
    Memory& operator=(Memory&&) = delete;
    ~Memory() = default;

    Window window;
    Desk desk;

    const ibv_mr& lent() const { return *window_mr_; }

    /// Where a part of everybody's window is.
    template <typename T>
    std::size_t offset_of(const T& part) const {
        return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&part) -
                                        reinterpret_cast<const std::byte*>(&window));
    }

    /// To send a part, or its first bytes.
    template <typename T>
    ibv_sge of_desk(const T& part, std::size_t size = sizeof(T)) const {
        return piece(*desk_mr_, &part, size);
    }
    template <typename T>
    ibv_sge of_window(const T& part, std::size_t size = sizeof(T)) const {
        return piece(*window_mr_, &part, size);
    }

  private:
    static ibv_sge piece(const ibv_mr& mr, const void* part, std::size_t size) {
        return {.addr = reinterpret_cast<std::uintptr_t>(part),
                .length = static_cast<std::uint32_t>(size),
                .lkey = mr.lkey};
    }
    template <typename T>
    static verbs::Mr lend(ibv_pd* pd, runlog::Log& log, T& part, int access) {
        verbs::Mr mr =
            verbs::register_memory(pd, std::as_writable_bytes(std::span(&part, 1)), access);
        log.event("mr", verbs::describe(*mr, access));
        return mr;
    }

    verbs::Mr window_mr_, desk_mr_;
};

}  // namespace step17

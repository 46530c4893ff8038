// Lesson 13, FETCH_ADD: no client waits for another, and no update is lost. Each atomic finds the
// value that the previous one left, so the values found are 0 to the last, each once.
#pragma once

#include <algorithm>
#include <deque>

#include "connection.hpp"

namespace lesson13 {

/// Adds to the word at this offset. The slot gets the word's previous value in this host's byte
/// order.
inline void post_fetch_add(Connection& on, std::size_t word, std::uint64_t add, std::size_t slot) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(&on.found[slot]),
                .length = sizeof on.found[slot],
                .lkey = on.mr->lkey};
    ibv_send_wr wr{.wr_id = ++on.posted,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                   .send_flags = IBV_SEND_SIGNALED,
                   .wr = {.atomic = {.remote_addr = on.remote.va + word,
                                     .compare_add = add,
                                     .rkey = on.remote.rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(on.client.qp(), &wr, &bad_wr));
}

inline std::uint64_t complete_fetch_add(Connection& on, std::size_t slot, runlog::Log& log) {
    const std::uint64_t found = on.complete(slot, "ATOMIC_FETCH_AND_ADD");
    on.log_found(found, {}, log);
    return found;
}

/// `times` FETCH_ADDs of 1 by each client. Returns all values found.
inline std::vector<std::uint64_t> count(std::deque<Connection>& clients, std::uint64_t times,
                                        runlog::Log& log) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t left = times; left > 0;) {
        const auto batch = std::min<std::uint64_t>(left, clients.front().found.size());
        // 1. All clients post; the server's device decides which request is executed first.
        for (std::size_t slot = 0; slot < batch; ++slot)
            for (Connection& client : clients)
                post_fetch_add(client, offsetof(Words, counter), 1, slot);
        // 2. All clients take their results.
        for (Connection& client : clients)
            for (std::size_t slot = 0; slot < batch; ++slot)
                all.push_back(complete_fetch_add(client, slot, log));
        left -= batch;
    }
    return all;
}

/// Reads a word by adding 0: atomic, and in this host's byte order, unlike a READ.
inline std::uint64_t read(Connection& on, std::size_t word, runlog::Log& log) {
    post_fetch_add(on, word, 0, 0);
    return complete_fetch_add(on, 0, log);
}

}  // namespace lesson13

// Lesson 13, CMP_SWAP: a maximum without a lock. A swap fails only if another one has succeeded,
// and it returns that one's value. So one client always makes progress, and none waits for a dead
// one.
#pragma once

#include <algorithm>
#include <deque>

#include "connection.hpp"

namespace lesson13 {

/// The result of a contest.
struct Contest {
    std::uint64_t swaps = 0;  // number of CMP_SWAPs, including
    std::uint64_t lost = 0;   // those that found another value than `compare` and wrote nothing
};

/// Sets the maximum to `swap` if it equals `compare`. Slot 0 gets its previous value.
inline void post_compare_swap(Connection& on, std::uint64_t compare, std::uint64_t swap) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(on.found.data()),
                .length = sizeof on.found[0],
                .lkey = on.mr->lkey};
    ibv_send_wr wr{.wr_id = ++on.posted,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
                   .send_flags = IBV_SEND_SIGNALED,
                   .wr = {.atomic = {.remote_addr = on.remote.va + offsetof(Words, maximum),
                                     .compare_add = compare,
                                     .swap = swap,
                                     .rkey = on.remote.rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(on.client.qp(), &wr, &bad_wr));
}

/// Each client raises the maximum to its own bids. With 4 clients, client 1 bids 1, 5, 9 …
inline Contest bid(std::deque<Connection>& clients, std::uint64_t bids, runlog::Log& log) {
    struct Bidder {
        Connection* on;
        std::uint64_t bid;        // the next bid
        std::uint64_t known = 0;  // the maximum that this client knows
    };
    std::vector<Bidder> bidders;
    bidders.reserve(clients.size());
    for (Connection& client : clients)
        bidders.push_back({&client, client.number});
    const auto has_bid = [highest = bids * clients.size()](const Bidder& bidder) {
        return bidder.bid <= highest;
    };
    Contest contest;
    while (std::ranges::any_of(bidders, has_bid)) {
        // 1. Each client with a bid left tries to replace the maximum that it knows, in reverse
        // order of the previous turn.
        std::ranges::reverse(bidders);
        for (const Bidder& bidder : bidders)
            if (has_bid(bidder))
                post_compare_swap(*bidder.on, bidder.known, bidder.bid);
        for (Bidder& bidder : bidders) {
            if (!has_bid(bidder))
                continue;
            // 2. The value found shows whether the swap was made; the status is SUCCESS either way.
            const std::uint64_t found = bidder.on->complete(0, "ATOMIC_CMP_AND_SWP");
            const bool is_swapped = found == bidder.known;
            bidder.on->log_found(found, is_swapped ? "swapped" : "not swapped", log);
            ++contest.swaps;
            contest.lost += is_swapped ? 0 : 1;
            // 3. A loser learns the new maximum and skips its bids that are not higher.
            bidder.known = is_swapped ? bidder.bid : found;
            while (bidder.bid <= bidder.known)
                bidder.bid += clients.size();
        }
    }
    return contest;
}

}  // namespace lesson13

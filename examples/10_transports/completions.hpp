// Waiting for completions: of those that must come, and of those of messages that may be lost.
#pragma once

#include <vector>

#include "side.hpp"

namespace step10 {

inline ibv_wc next_completion(const Side& side, verbs::CompletionQueue& completions) {
    const auto wc = completions.next(side.stop, side.deadline());
    if (!wc)
        throw util::Error(
            "no completion came in time: does the peer answer? Under loss, try a longer "
            "--timeout.");
    side.log.event("wc", verbs::describe(*wc));
    return *wc;
}

/// All that completes until `most` have, or until nothing has for a while: of messages that may be
/// lost nobody can know that they will not come any more.
inline std::vector<ibv_wc> completions_until_quiet(const Side& side,
                                                   verbs::CompletionQueue& completions,
                                                   std::size_t most) {
    constexpr std::chrono::milliseconds quiet{500};
    std::vector<ibv_wc> all;
    while (all.size() < most) {
        const auto wc = completions.next(side.stop, util::deadline_in(quiet));
        if (!wc)
            break;
        side.log.event("wc", verbs::describe(*wc));
        all.push_back(*wc);
    }
    return all;
}

}  // namespace step10

#include "trace/flow/gaps.hpp"

#include <algorithm>

namespace flow {

void Gaps::note(wire::Psn first, std::uint32_t count) {
    ++count_;
    missing_ += count;
    // Remove filled gaps, so that the array stays sorted by age.
    auto* const kept =
        std::remove_if(open_.begin(), open_.end(), [](const Gap& gap) { return gap.count == 0; });
    std::fill(kept, open_.end(), Gap());
    if (open_.back().count != 0)
        std::rotate(open_.begin(), open_.begin() + 1, open_.end());
    *std::min(kept, open_.end() - 1) = {first, count};
}

bool Gaps::fill(wire::Psn first, std::uint32_t count) {
    for (Gap& gap : open_) {
        if (!first.is_within(gap.first, gap.count))
            continue;
        const auto before = static_cast<std::uint32_t>(distance(gap.first, first));
        const std::uint32_t filled = std::min(count, gap.count - before);
        const Gap behind{first + filled, gap.count - before - filled};
        missing_ -= filled;
        // Retransmissions arrive in order. So keep the later part of a split gap, and the earlier
        // part only if there is room for both.
        const auto unused = std::ranges::find(open_, 0U, &Gap::count);
        const bool has_room = behind.count == 0 || unused != open_.end();
        if (before == 0 || !has_room) {
            gap = behind;
        } else {
            gap.count = before;
            if (behind.count != 0)
                *unused = behind;
        }
        return true;
    }
    return false;
}

}  // namespace flow

#include "flow/gaps.hpp"

#include <algorithm>

namespace flow {

void Gaps::note(wire::Psn first, std::uint32_t count) {
    ++count_;
    missing_ += count;
    // Filled ones make room, so that the order stays that of age.
    const auto kept = std::ranges::remove(open_, 0U, &Gap::count).begin();
    std::fill(kept, open_.end(), Gap());
    if (open_.back().count != 0)
        std::ranges::rotate(open_, open_.begin() + 1);
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
        // Retransmissions come in order. So of two rests the later one is waited for, and the
        // earlier one only where there is room for both.
        if (before == 0) {
            gap = behind;
        } else if (const auto unused = std::ranges::find(open_, 0U, &Gap::count);
                   behind.count == 0 || unused != open_.end()) {
            gap.count = before;
            if (behind.count != 0)
                *unused = behind;
        } else {
            gap = behind;
        }
        return true;
    }
    return false;
}

}  // namespace flow

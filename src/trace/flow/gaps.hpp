// Missing numbers of a sequence, and the missing numbers that arrived later.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "wire/psn.hpp"

namespace flow {

/// Maximum distance between a PSN and the expected one, in either direction, within one sequence. A
/// PSN farther away starts another sequence: another connection with the same QPN, or traffic after
/// a long loss in the capture. 65536 packets are more than any queue has in flight.
inline constexpr std::int32_t longest_jump = 65536;

/// Whether a PSN is in another sequence than the one that goes on with `next`. `back`: PSNs before
/// `next` that are in the sequence, 0 .. 0x7fffff.
constexpr bool is_far(wire::Psn next, wire::Psn psn, std::int32_t back = longest_jump) {
    const std::int32_t ahead = distance(next, psn);
    return ahead > longest_jump || ahead < -back;
}

/// A packet in its sequence.
enum class Novelty : std::uint8_t {
    New,
    Late,    ///< was missing: fills a gap
    Repeat,  ///< seen before: neither new nor missing
};

/// Remembers the last few runs of missing PSNs. Packets of a forgotten run count as
/// retransmissions.
class Gaps {
  public:
    void note(wire::Psn first, std::uint32_t count);

    /// `count` PSNs from `first` on arrived after later ones. Returns true if the first of them was
    /// missing until now.
    bool fill(wire::Psn first, std::uint32_t count);

    struct Gap {
        wire::Psn first;
        std::uint32_t count = 0;  // 0: no gap
    };
    using Open = std::array<Gap, 4>;  // oldest first
    /// Goes on with the gaps of another sequence; those that are open remain missing. Returns them.
    Open go_to(const Open& other) { return std::exchange(open_, other); }

    /// Number of gaps.
    std::uint64_t count() const { return count_; }
    /// Number of PSNs that were missing and did not arrive later.
    std::uint64_t missing() const { return missing_; }

  private:
    Open open_{};
    std::uint64_t count_ = 0;
    std::uint64_t missing_ = 0;
};

}  // namespace flow

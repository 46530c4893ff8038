// Missing numbers of a sequence, and the missing numbers that arrived later.
#pragma once

#include <array>
#include <cstdint>

#include "wire/psn.hpp"

namespace flow {

/// How far a PSN may lie from the expected one, either way, and still belong to the same sequence.
/// Farther off, something else began: another connection on the same queue pair number, or traffic
/// behind a long loss of the capture's. 65536 packets are more than any queue has in flight.
inline constexpr std::int32_t longest_jump = 65536;

/// A packet in its sequence.
enum class Arrival : std::uint8_t {
    New,
    Late,    ///< was missing: a gap is filled
    Repeat,  ///< not ahead of what passed already, and not missing
};

/// Remembers the last few runs of missing PSNs. One that is older is forgotten: what comes of it
/// then counts as repeated.
class Gaps {
  public:
    void note(wire::Psn first, std::uint32_t count);

    /// `count` PSNs from `first` on passed behind later ones. True when the first of them was
    /// missing until now.
    bool fill(wire::Psn first, std::uint32_t count);

    /// Another sequence begins: what is missing stays so.
    void forget() { open_ = {}; }

    /// How often PSNs were left out.
    std::uint64_t count() const { return count_; }
    /// PSNs that were left out and did not come later.
    std::uint64_t missing() const { return missing_; }

  private:
    struct Gap {
        wire::Psn first;
        std::uint32_t count = 0;  // 0: no gap
    };
    std::array<Gap, 4> open_{};  // oldest first
    std::uint64_t count_ = 0;
    std::uint64_t missing_ = 0;
};

}  // namespace flow

// PSNs without the wrap at 24 bits, as distances from the first one.
#pragma once

#include <cstdint>

#include "wire/psn.hpp"

namespace conformance {

/// 0 is the first PSN; earlier ones are negative.
using ExtendedPsn = std::int64_t;

class Sequence {
  public:
    Sequence() = default;
    explicit Sequence(wire::Psn first) : psn_(first) {}

    /// Returns the place of the PSN that is within half a circle of the last place.
    ExtendedPsn extend(wire::Psn psn) const { return place_ + distance(psn_, psn); }
    wire::Psn psn_of(ExtendedPsn place) const {
        return psn_ + static_cast<std::uint32_t>(static_cast<std::uint64_t>(place - place_));
    }
    void move_to(ExtendedPsn place) {
        psn_ = psn_of(place);
        place_ = place;
    }

  private:
    wire::Psn psn_;
    ExtendedPsn place_ = 0;
};

}  // namespace conformance

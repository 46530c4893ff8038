// PSNs without the wrap at 24 bits, as distances from the first one.
#pragma once

#include <cstdint>

#include "wire/psn.hpp"

namespace conformance {

using wire::ExtendedPsn;

/// Places of PSNs behind the first one.
class Sequence {
  public:
    Sequence() = default;
    explicit Sequence(wire::Psn first) : first_(first) {}

    /// Returns the place of the PSN that is within half a circle of the last place.
    ExtendedPsn extend(wire::Psn psn) const { return wire::extend(psn - first_.value(), place_); }
    wire::Psn psn_of(ExtendedPsn place) const { return first_ + static_cast<std::uint32_t>(place); }
    void move_to(ExtendedPsn place) { place_ = place; }

  private:
    wire::Psn first_;
    ExtendedPsn place_ = 0;
};

}  // namespace conformance

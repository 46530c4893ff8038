// Packet sequence number: 24 bits that wrap (IBTA volume 1, 9.7.1 and 9.7.2).
#pragma once

#include <cstdint>

#include <fmt/core.h>

namespace wire {

/// There is no operator<, since PSNs wrap. Use the distance, or is_before() and is_after(), which
/// hold within the half circle that the protocol allows to be in flight.
class Psn {
  public:
    static constexpr std::uint32_t mask = 0xffffff;

    constexpr Psn() = default;
    /// Uses only the lowest 24 bits.
    constexpr explicit Psn(std::uint32_t value) : value_(value & mask) {}

    constexpr std::uint32_t value() const { return value_; }

    friend constexpr bool operator==(Psn, Psn) = default;
    friend constexpr Psn operator+(Psn psn, std::uint32_t count) { return Psn(psn.value_ + count); }
    friend constexpr Psn operator-(Psn psn, std::uint32_t count) { return Psn(psn.value_ - count); }
    constexpr Psn& operator+=(std::uint32_t count) { return *this = *this + count; }

    /// Returns how far `to` is ahead of `from`, -2^23 .. 2^23 - 1; negative if it is before `from`.
    friend constexpr std::int32_t distance(Psn from, Psn to) {
        const std::uint32_t ahead = (to.value_ - from.value_) & mask;
        return ahead < half
                   ? static_cast<std::int32_t>(ahead)
                   : static_cast<std::int32_t>(ahead) - static_cast<std::int32_t>(mask) - 1;
    }

    constexpr bool is_before(Psn other) const { return distance(*this, other) > 0; }
    constexpr bool is_after(Psn other) const { return distance(*this, other) < 0; }
    /// Whether this is one of the `count` PSNs from `first` on; count is at most 2^24.
    constexpr bool is_within(Psn first, std::uint32_t count) const {
        return ((value_ - first.value_) & mask) < count;
    }

  private:
    static constexpr std::uint32_t half = 0x800000;
    std::uint32_t value_ = 0;
};

/// A PSN without the wrap: how many PSNs it is behind a first one; negative before it.
using ExtendedPsn = std::int64_t;

/// Returns the one nearest to `near` whose lowest 24 bits are those of `psn`: up to half the circle
/// ahead of it or behind (IBTA volume 1, 9.7.3.1).
constexpr ExtendedPsn extend(Psn psn, ExtendedPsn near) {
    return near + distance(Psn(static_cast<std::uint32_t>(near)), psn);
}

}  // namespace wire

/// Decimal as in Wireshark; integer format specifications ("{:06x}") work.
template <>
struct fmt::formatter<wire::Psn> : fmt::formatter<std::uint32_t> {
    template <typename Context>
    auto format(wire::Psn psn, Context& context) const {
        return fmt::formatter<std::uint32_t>::format(psn.value(), context);
    }
};

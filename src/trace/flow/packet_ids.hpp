// Which packets of a sender are one packet, which was copied or captured twice, by their IPv4
// identifications.
#pragma once

#include <cstdint>
#include <utility>

namespace flow {

struct Seen;

class PacketIds {
  public:
    /// Takes the identification of each packet with new data; 0: it has none.
    void see(std::uint16_t id) {
        const std::uint16_t last = std::exchange(last_, id);
        if (last != 0 && id != 0)
            (id == last ? are_equal_ : are_different_) = true;
    }
    void see(const Seen& packet);

    /// One packet was sent, and came twice. `distance_ns`: between the two.
    bool are_one(std::uint16_t first, std::uint16_t second, std::int64_t distance_ns) const {
        constexpr std::int64_t soon_ns = 1'000'000;  // no timer is so short
        return first != 0 && first == second && !are_equal_ &&
               (are_different_ || distance_ns < soon_ns);
    }
    bool are_one(const Seen& first, const Seen& second) const;
    bool are_one(std::uint16_t first, const Seen& second, std::int64_t distance_ns) const;

    /// Two packets were sent.
    static bool are_two(const Seen& first, const Seen& second);

  private:
    std::uint16_t last_ = 0;
    bool are_different_ = false;
    bool are_equal_ = false;  // the sender gives all packets the same identification
};

}  // namespace flow

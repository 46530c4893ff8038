// Which packets of a sender are one packet, which was copied or captured twice, and which of two it sent
// first, by their IPv4 identifications.
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
        if (last == 0 || id == 0)
            return;
        (id == last ? are_equal_ : are_different_) = true;
        ++(is_step(last, id) ? steps_ : jumps_);
    }
    void see(const Seen& packet);

    /// One packet was sent, and came twice. `distance_ns`: between the two.
    bool are_one(std::uint16_t first, std::uint16_t second, std::int64_t distance_ns) const {
        constexpr std::int64_t soon_ns = 1'000'000;  // no timer is so short
        return first != 0 && first == second && !are_equal_ &&
               (are_different_ || distance_ns < soon_ns);
    }
    bool are_one(const Seen& first, const Seen& second) const;

    /// Two packets were sent.
    static bool are_two(const Seen& first, const Seen& second);

    /// The sender counts its packets, as Linux does, and its count says that it sent `first` first. False: not
    /// so, or unknown.
    bool was_sent_before(std::uint16_t first, std::uint16_t second) const {
        constexpr std::uint32_t few = 8;
        return first != 0 && second != 0 && steps_ >= few && steps_ / few >= jumps_ &&
               is_step(first, second);
    }
    bool was_sent_before(const Seen& first, const Seen& second) const;

  private:
    // It may count packets to other hosts as well.
    static bool is_step(std::uint16_t from, std::uint16_t to) {
        constexpr std::uint16_t most = 4096;
        const auto step = static_cast<std::uint16_t>(to - from);
        return step != 0 && step <= most;
    }

    std::uint16_t last_ = 0;
    bool are_different_ = false;
    std::uint32_t steps_ = 0, jumps_ = 0;
    bool are_equal_ = false;  // the sender gives all packets the same identification
};

}  // namespace flow

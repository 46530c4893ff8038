// Traffic that is right packet by packet but puts load on whoever follows connections: an analysis
// must take time proportional to the packets for each kind.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>

#include "bench/traffic.hpp"
#include "wire/packet.hpp"

namespace bench {

enum class Hostile : std::uint8_t {
    Naks,        ///< WRITEs and NAKs for the first of them, in turn
    Descending,  ///< SENDs with descending PSNs
    Random,      ///< SENDs with random PSNs
    QueuePairs,  ///< each packet to another queue pair
    Reads,       ///< READs that nothing answers
    Acks,        ///< WRITEs, each sent twice, and ACKs for the first of them
    Missing,     ///< WRITEs with every second PSN, and an ACK for each
    Damaged,     ///< WRITEs with wrong ICRCs, and ACKs for an older one
    Unasked,     ///< WRITEs, and READ responses and NAKs that belong to none; ACKs for half of them
};

inline constexpr std::array<std::string_view, 9> hostile_names{
    "naks", "descending", "random",  "queue-pairs", "reads",
    "acks", "missing",    "damaged", "unasked"};

/// nullopt: there is no such kind.
std::optional<Hostile> hostile(std::string_view name);

class HostileTraffic {
  public:
    explicit HostileTraffic(Hostile kind) : kind_(kind) {}
    /// A packet each microsecond.
    Traffic::Frame next();

  private:
    wire::Packet packet();

    Hostile kind_;
    std::uint32_t number_ = 0;
    std::mt19937 random_{20260101};  // NOLINT(cert-msc51-cpp): the same in every run
};

}  // namespace bench

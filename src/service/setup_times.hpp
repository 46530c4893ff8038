// How long clients took to be set up, by phase: what half of them did not exceed, and what all but
// one in a hundred did not.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

#include "flow/latency.hpp"
#include "runlog/event.hpp"

namespace service {

enum class Phase : std::uint8_t { Tcp, Tls, Exchange, Qp };
inline constexpr std::size_t phases = 4;

/// Of one client.
using PhaseTimes = std::array<std::chrono::nanoseconds, phases>;

/// Of any number of clients, in the same memory. Percentiles are off by 1.6 % at most.
class SetupTimes {
  public:
    void add(const PhaseTimes& times);
    /// A run log "setup" event.
    runlog::Fields describe() const;

  private:
    std::uint64_t clients_ = 0;
    flow::Latency::Pages pages_{phases * (flow::Latency::buckets + 1)};
    std::array<flow::Latency, phases> latencies_;
};

/// Tells the time since it was last asked, or made.
class Stopwatch {
  public:
    std::chrono::nanoseconds lap() {
        const auto now = std::chrono::steady_clock::now();
        return now - std::exchange(last_, now);
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace service

// Lesson 08, hardened, both sides: the duration of client setup, by phase.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "runlog/event.hpp"
#include "trace/flow/latency.hpp"

namespace lesson08 {

/// Times of one client.
struct PhaseTimes {
    std::chrono::nanoseconds tcp{}, tls{}, exchange{}, qp{};
};

/// Times of many clients, in constant memory. Percentiles have an error of at most 1.6 %.
class SetupTimes {
  public:
    void add(const PhaseTimes& times) {
        ++clients_;
        const std::array all{times.tcp, times.tls, times.exchange, times.qp};
        for (std::size_t phase = 0; phase < names.size(); ++phase)
            latencies_[phase].add(all[phase].count(), pages_);
    }

    /// Fields of a run log "setup" event: the 50th and 99th percentiles.
    runlog::Fields describe() const {
        runlog::Fields fields{{"clients", clients_}};
        for (std::size_t phase = 0; phase < names.size() && clients_ > 0; ++phase) {
            const flow::LatencySummary summary = latencies_[phase].summary(pages_);
            fields.emplace_back(std::string(names[phase]) + "_p50_us", summary.p50 / 1000);
            fields.emplace_back(std::string(names[phase]) + "_p99_us", summary.p99 / 1000);
        }
        return fields;
    }

  private:
    static constexpr std::array<std::string_view, 4> names{"tcp", "tls", "exchange", "qp"};

    std::uint64_t clients_ = 0;
    flow::Latency::Pages pages_{names.size() * (flow::Latency::buckets + 1)};
    std::array<flow::Latency, names.size()> latencies_;
};

/// Measures the time since the previous lap() or the construction.
class Stopwatch {
  public:
    std::chrono::nanoseconds lap() {
        const auto now = std::chrono::steady_clock::now();
        return now - std::exchange(last_, now);
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace lesson08

// What a server of many clients counts.
#pragma once

#include <array>
#include <cstdint>

#include "runlog/log.hpp"
#include "service/hub.hpp"
#include "service/setup_times.hpp"
#include "util/limits.hpp"

namespace service {

/// Requests of one kind, and the bytes of their payload.
struct Traffic {
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;

    void add(std::uint64_t more_operations, std::uint64_t more_bytes) {
        operations += more_operations;
        bytes += more_bytes;
    }
};

class Statistics {
  public:
    std::uint64_t refused = 0;                 // beyond the bound on clients
    std::array<std::uint64_t, losses> lost{};  // by Loss
    std::uint64_t errors = 0;                  // completions that were not a success
    Traffic sends;                             // as this side's completions say
    Traffic writes, reads;                     // as the clients say: nothing completes here

    /// A client has all it needs.
    void connected(const PhaseTimes& times);
    void left() { --clients_; }

    /// A "stats" and a "setup" event.
    void write(runlog::Log& log) const;

  private:
    std::uint64_t clients_ = 0;
    std::uint64_t total_ = 0;
    std::uint64_t most_ = 0;
    std::uint64_t memory_before_ = util::resident_memory();
    std::uint64_t memory_at_most_ = memory_before_;
    SetupTimes setup_;
};

}  // namespace service

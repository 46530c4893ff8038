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
    std::uint64_t refused = 0;  // beyond the bound on clients
    std::uint64_t errors = 0;   // completions that were not a success
    Traffic sends;              // as this side's completions say
    Traffic writes, reads;      // as the clients say: nothing completes here

    /// A client's queue pair is connected.
    void connected();
    void left() { --clients_; }
    /// And it has said that its own is, too.
    void set_up(const PhaseTimes& times) { setup_.add(times); }
    /// Counts it, and writes a "lost" event: of each kind ten between two statistics, so that a
    /// flood does not fill the log. `client`: its number; 0: it was none yet.
    void lost(runlog::Log& log, Loss loss, const util::Address& peer, const std::string& text,
              std::uint64_t client);

    /// A "stats" and a "setup" event.
    void write(runlog::Log& log);

  private:
    std::uint64_t clients_ = 0;
    std::uint64_t total_ = 0;
    std::uint64_t most_ = 0;
    std::array<std::uint64_t, losses> lost_{};    // by Loss
    std::array<std::uint64_t, losses> in_log_{};  // since the last statistics
    std::uint64_t memory_before_ = util::resident_memory();
    std::uint64_t memory_at_most_ = memory_before_;
    SetupTimes setup_;
};

}  // namespace service

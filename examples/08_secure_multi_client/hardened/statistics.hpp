// Lesson 08, hardened, the server: its statistics.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string>

#include "hub.hpp"
#include "report.hpp"
#include "runlog/log.hpp"
#include "setup_times.hpp"
#include "util/limits.hpp"

namespace lesson08 {

/// Number of requests of one kind, and their payload bytes.
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
    std::uint64_t refused = 0;  // over the limit of clients
    std::uint64_t errors = 0;   // completions with an error
    Traffic sends;              // according to this side's completions
    Traffic writes, reads;      // according to the clients: no completion at the server

    /// A client's queue pair is in RTS on this side.
    void connected() {
        ++total_;
        if (++clients_ > most_) {
            most_ = clients_;
            memory_at_most_ = util::resident_memory();
        }
    }
    void left() { --clients_; }
    /// The client has confirmed that its own queue pair is connected, too.
    void set_up(const PhaseTimes& times) { setup_.add(times); }

    /// Counts a received SEND and the WRITEs and READs that it reports.
    void add(const Report& report) {
        sends.add(1, Report::size);
        writes.add(report.writes, report.write_bytes);
        reads.add(report.reads, report.read_bytes);
    }
    /// Counts a loss and writes a "lost" event: at most ten of each kind between two statistics, so
    /// that a flood does not fill the log. `client`: its number; 0: it had none yet.
    void lost(runlog::Log& log, Loss loss, const util::Address& peer, const std::string& text,
              std::uint64_t client) {
        constexpr std::uint64_t most_in_log = 10;
        const auto i = static_cast<std::size_t>(loss);
        ++lost_[i];
        if (++in_log_[i] > most_in_log)
            return;
        runlog::Fields fields{{"peer", peer.text()}, {"loss", loss_names[i]}, {"text", text}};
        if (client > 0)
            fields.emplace_back("client", client);
        log.event("lost", std::move(fields));
    }

    /// Writes a "stats" and a "setup" event.
    void write(runlog::Log& log) {
        in_log_ = {};
        runlog::Fields fields{
            {"clients", clients_},
            {"most", most_},
            {"total", total_},
            {"refused", refused},
            {"lost", std::accumulate(lost_.begin(), lost_.end(), std::uint64_t{0})}};
        for (std::size_t i = 0; i < lost_.size(); ++i)
            fields.emplace_back("lost_" + std::string(loss_names[i]), lost_[i]);
        fields.insert(fields.end(), {{"errors", errors},
                                     {"sends", sends.operations},
                                     {"send_bytes", sends.bytes},
                                     {"told_writes", writes.operations},
                                     {"told_write_bytes", writes.bytes},
                                     {"told_reads", reads.operations},
                                     {"told_read_bytes", reads.bytes},
                                     {"memory", util::resident_memory()}});
        if (most_ > 0 && memory_at_most_ >= memory_before_)
            fields.emplace_back("memory_a_client", (memory_at_most_ - memory_before_) / most_);
        log.event("stats", std::move(fields));
        log.event("setup", setup_.describe());
    }

  private:
    std::uint64_t clients_ = 0;
    std::uint64_t total_ = 0;
    std::uint64_t most_ = 0;
    std::array<std::uint64_t, loss_names.size()> lost_{};    // by Loss
    std::array<std::uint64_t, loss_names.size()> in_log_{};  // since the previous statistics
    std::uint64_t memory_before_ = util::resident_memory();
    std::uint64_t memory_at_most_ = memory_before_;
    SetupTimes setup_;
};

}  // namespace lesson08

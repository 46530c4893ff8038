// Queue pairs and their peers according to a run log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runlog/event.hpp"
#include "trace/flow/known_pairs.hpp"
#include "trace/logged/objects.hpp"

namespace logged {

class LogPairs {
  public:
    /// Takes the events of one log in order.
    void learn(const runlog::Event& event);

    /// From the log's qp_state events: each queue pair and peer once, with the PSN of the first
    /// state in which it could send, and with the host if the log's device events name only one.
    std::vector<flow::KnownQueuePair> all() const;
    const Devices& devices() const { return known_.devices(); }

  private:
    struct Found {
        flow::KnownQueuePair pair;
        bool could_send = false;
    };

    Found& entry_of(std::uint32_t qpn, std::uint32_t dest_qpn);

    QueuePairs<> known_;
    std::vector<Found> found_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> by_ends_;
};

/// Reads a log. Empty if it cannot be read.
std::vector<flow::KnownQueuePair> queue_pairs_in(const std::string& run_log);

}  // namespace logged

// The first PSNs of queue pairs according to the run logs.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runlog/event.hpp"
#include "trace/logged/objects.hpp"
#include "trace/timeline/first_psn.hpp"

namespace timeline {

class LogPsns {
  public:
    /// Takes the events of each log in order.
    void add(const runlog::Event& event);

    /// The directions of queue pairs that have a peer, the client's first. Without information from
    /// the wire.
    std::vector<FirstPsn> directions() const;

    /// The role's numeric IP address; empty if its log has no GID.
    std::string address_of(const std::string& role) const;

  private:
    struct PairPsns : logged::QueuePair {
        FirstPsn first;  // of its first connection
    };

    logged::QueuePairs<PairPsns> pairs_;
    std::set<std::string> uses_cm_;  // roles
};

}  // namespace timeline

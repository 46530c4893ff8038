// The first PSN of each direction according to the run logs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runlog/event.hpp"
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
    struct QueuePair {
        FirstPsn first;
        bool is_over = false;  // a newer queue pair has the number
        bool has_posted = false;
    };

    std::string role_of_peer(const std::string& role, const FirstPsn& direction) const;
    void take_psn(QueuePair& pair, const runlog::Event& event, std::string_view key);

    std::map<std::pair<std::string, std::uint32_t>, QueuePair> pairs_;  // by role and QPN
    std::map<std::string, std::string> addresses_;                      // by role
    std::set<std::string> uses_cm_;                                     // roles
};

}  // namespace timeline

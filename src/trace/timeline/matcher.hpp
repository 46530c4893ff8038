// Joins the packets of a run to its events, counts how many it could join, and takes from the pairs
// that match how far the hosts' clocks are apart.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runlog/event.hpp"
#include "trace/timeline/cause.hpp"
#include "trace/timeline/clock.hpp"
#include "trace/timeline/join.hpp"
#include "trace/timeline/packet_row.hpp"

namespace timeline {

/// How many packets were joined, and how many could have been.
struct JoinCount {
    std::uint64_t packets = 0;    // all rows
    std::uint64_t roce = 0;       // of these, RoCE packets
    std::uint64_t joinable = 0;   // of a connected queue pair, or a datagram between two
    std::uint64_t datagrams = 0;  // of these, the latter
    std::uint64_t joined = 0;     // of the joinable ones, those with a work request
    std::uint64_t set_up = 0;     // of the others, those that set a connection up, or take it down
    std::uint64_t causeless() const { return packets - joined - set_up; }
};

class Matcher {
  public:
    /// `offsets`: by role, how far its clock was ahead of the controlling host's, in nanoseconds.
    /// `capture_role`: the role whose host captured; empty: unknown.
    Matcher(const std::map<std::string, std::int64_t>& offsets, const std::string& capture_role);

    /// An event, each log's in its order. Returns the work request that it posts, or whose
    /// completion it is; nullptr where there is none. Valid until the next event.
    const WorkRequest* learn(const runlog::Event& event);

    /// A packet, in the order of the wire.
    Origin match(const PacketRow& packet);
    /// One that had no origin: its event may have been learned since.
    Origin match_again(const PacketRow& packet);

    /// As Join has them.
    bool was_misled() const { return join_.was_misled(); }
    void begin_as(const Matcher& other) { join_.begin_as(other.join_); }

    const JoinCount& joins() const { return joins_; }
    const std::map<std::string, ClockBounds>& clocks() const { return clocks_; }
    /// What is to be added to a role's times to get the capture's.
    std::int64_t shift_of(const std::string& role) const;
    /// All that was posted so far. Valid until the next event.
    std::vector<const WorkRequest*> work_requests() const { return join_.work_requests(); }

  private:
    void note_completion(const WorkRequest& request);

    Join join_;
    JoinCount joins_;
    std::map<std::string, ClockBounds> clocks_;
    // By the work request's number: when the first response with its last PSN was captured.
    std::vector<std::optional<std::int64_t>> answered_;
    std::string capture_role_;
};

}  // namespace timeline

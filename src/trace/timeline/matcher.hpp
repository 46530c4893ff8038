// Joins the packets of a run to its events, counts the joined packets, and derives the offsets of
// the hosts' clocks from the matched pairs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "runlog/event.hpp"
#include "trace/logged/clock_bounds.hpp"
#include "trace/timeline/cause.hpp"
#include "trace/timeline/join.hpp"
#include "trace/timeline/packet_row.hpp"

namespace timeline {

/// Number of packets that were joined, and that could have been joined.
struct JoinCount {
    std::uint64_t packets = 0;    // all rows
    std::uint64_t roce = 0;       // of these, RoCE packets
    std::uint64_t joinable = 0;   // of a connected queue pair, or a datagram between two
    std::uint64_t datagrams = 0;  // of these, datagrams
    std::uint64_t joined = 0;     // of the joinable ones, those with a work request
    std::uint64_t set_up = 0;     // of the others, those of connection setup and teardown
    std::uint64_t causeless() const { return packets - joined - set_up; }
};

class Matcher {
  public:
    /// `offsets`: by role, how far its clock was ahead of the controlling host's, in nanoseconds.
    /// `capture_role`: the role on whose host the capture was made; empty: unknown.
    Matcher(const std::map<std::string, std::int64_t>& offsets, const std::string& capture_role);

    /// Takes an event, in order within each log. Returns the work request that it posts or
    /// completes, or nullptr. Valid until the next event.
    const WorkRequest* learn(const runlog::Event& event);

    /// Takes a packet, in the order of the wire.
    Origin match(const PacketRow& packet);
    /// Takes a packet without an origin again: its event may have been learned since.
    Origin match_again(const PacketRow& packet);

    /// See Join.
    bool may_be_misled() const { return join_.may_be_misled(); }
    bool was_misled() const { return join_.was_misled(); }
    void begin_as(const Matcher& other) { join_.begin_as(other.join_); }

    const JoinCount& joins() const { return joins_; }
    const std::map<std::string, logged::ClockBounds>& clocks() const { return clocks_; }
    /// The offset to add to a role's times to get the capture's.
    std::int64_t shift_of(const std::string& role) const;
    /// All work requests posted so far. Valid until the next event.
    std::vector<const WorkRequest*> work_requests() const { return join_.work_requests(); }

  private:
    void note_call(const runlog::Event& event);
    void note_driver(const runlog::Event& event);
    void bound_by_driver(const PacketRow& packet);
    void note_completion(const WorkRequest& request);

    Join join_;
    JoinCount joins_;
    std::map<std::string, logged::ClockBounds> clocks_;
    // By work request number: when the first response with its last PSN was captured.
    std::vector<std::optional<std::int64_t>> answered_;
    // When the calls began that send connection manager messages, by role and QPN; nullopt: several
    // queue pairs in turn had the number.
    using CallKind = std::tuple<std::string, std::uint32_t, CmKey::Kind>;
    std::map<CallKind, std::optional<std::int64_t>> calls_;
    // When a driver first sent or received a packet (rocexray) that was not captured yet, by whether it sent
    // it, destination QPN, PSN, and whether it is a response.
    struct Handled {
        std::string role;
        std::int64_t t_ns = 0;
    };
    using PacketStep = std::tuple<bool, std::uint32_t, std::uint32_t, bool>;
    std::map<PacketStep, Handled> handled_;
    std::string capture_role_;
};

}  // namespace timeline

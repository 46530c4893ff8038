// The events of both programs and the packets between them, in one order.
//
// All times are brought to the capture's clock. A row that arrives is held back for a while, so
// that what happened before it but arrives after it (over another file, another connection) still
// comes first.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "runlog/event.hpp"
#include "timeline/clock.hpp"
#include "timeline/join.hpp"
#include "timeline/packet_row.hpp"

namespace timeline {

struct Row {
    std::int64_t t_ns = 0;  // the capture's clock, where known by the shift of the moment
    std::variant<runlog::Event, PacketRow> what;
};

/// How many packets were joined, and how many could have been.
struct JoinCount {
    std::uint64_t packets = 0;   // all rows
    std::uint64_t joinable = 0;  // of a connected queue pair
    std::uint64_t joined = 0;    // of these, those with a work request
    std::uint64_t set_up = 0;    // of the others, those that set a connection up, or take it down
    std::uint64_t causeless() const { return packets - joined - set_up; }
};

class Timeline {
  public:
    using Arrival = std::chrono::steady_clock::time_point;

    /// `offsets`: by role, how far its clock was ahead of the controlling host's, in nanoseconds.
    /// `capture_role`: the role whose host captured.
    Timeline(const std::map<std::string, std::int64_t>& offsets, const std::string& capture_role);

    void add(runlog::Event event, Arrival now);
    void add(PacketRow packet, Arrival now);

    /// The rows that arrived until `arrived` and all that happened before them, in order.
    std::vector<Row> take(Arrival arrived);

    /// True while rows are held back.
    bool holds_rows() const { return !pending_.empty(); }

    const JoinCount& joins() const { return joins_; }
    const std::map<std::string, ClockBounds>& clocks() const { return clocks_; }
    /// All that was posted so far. Valid until the next add().
    std::vector<const WorkRequest*> work_requests() const { return join_.work_requests(); }
    /// What is to be added to a role's times to get the capture's.
    std::int64_t shift_of(const std::string& role) const;

  private:
    struct Pending {
        std::variant<runlog::Event, PacketRow> what;
        Arrival arrived;
        std::uint64_t number = 0;  // order of arrival, to keep rows of equal time stable
    };
    using RequestKey = std::tuple<std::string, std::uint32_t, std::uint64_t>;  // role, QPN, wr_id
    struct Response {
        std::int64_t seen_ns;    // the capture's clock
        std::int64_t posted_ns;  // its request's, the poster's clock
    };

    template <typename What>
    void hold(What what, Arrival now);
    void join(PacketRow& packet);
    void note_request(const PacketRow& packet);
    void note_completion(const runlog::Event& wc);
    std::int64_t capture_time(const Pending& pending) const;

    Join join_;
    JoinCount joins_;
    std::map<std::string, ClockBounds> clocks_;
    std::map<RequestKey, Response> responses_;  // the first one to the request's last PSN
    std::vector<Pending> pending_;
    std::uint64_t arrivals_ = 0;
    std::string capture_role_;
};

}  // namespace timeline

// The events of both programs and the packets between them, in one order, during a run. For a
// finished run, see finished_run.hpp.
//
// All times are converted to the capture's clock. Rows are held back for a while, so that earlier
// rows that arrive later (from another file or connection) still come first.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "runlog/event.hpp"
#include "trace/timeline/matcher.hpp"
#include "trace/timeline/packet_row.hpp"

namespace timeline {

struct Row {
    std::int64_t t_ns = 0;  // the capture's clock, by the current offset if it is known
    std::variant<runlog::Event, PacketRow> what;
    std::uint64_t number = 0;  // order of add(), from 0
};

class Timeline {
  public:
    using Arrival = std::chrono::steady_clock::time_point;

    /// `offsets`: by role, how far its clock was ahead of the controlling host's, in nanoseconds.
    /// `capture_role`: the role whose host captured.
    Timeline(const std::map<std::string, std::int64_t>& offsets, const std::string& capture_role)
        : matcher_(offsets, capture_role) {}

    void add(runlog::Event event, Arrival now);
    void add(PacketRow packet, Arrival now);
    /// For a reader of packets only: the event gets no row.
    void learn(const runlog::Event& event) { matcher_.learn(event); }

    /// Returns the rows that arrived until `arrived` and all earlier ones, in order. A packet whose
    /// log may be late is held longer, with all rows after it: until its event has arrived, or if
    /// the packet arrived until `waited_for`.
    std::vector<Row> take(Arrival arrived, Arrival waited_for);
    std::vector<Row> take(Arrival arrived) { return take(arrived, arrived); }

    /// True while rows are held back.
    bool holds_rows() const { return !pending_.empty(); }

    const Matcher& matcher() const { return matcher_; }

  private:
    struct Pending {
        std::variant<runlog::Event, PacketRow> what;
        Arrival arrived;
        std::uint64_t number = 0;  // order of arrival, for rows with equal times
    };

    template <typename What>
    void hold(What what, Arrival now);
    static bool awaits_event(const Pending& pending);
    void remove_begun(const runlog::Event& event);
    std::int64_t capture_time(const Pending& pending) const;

    Matcher matcher_;
    std::vector<Pending> pending_;
    std::uint64_t arrivals_ = 0;
};

}  // namespace timeline

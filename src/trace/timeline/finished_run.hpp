// A finished run in order of time. The capture is read twice: to join its packets and to bound the
// clocks, and again for the rows. Between the two passes a packet takes twelve bytes of memory, and
// forty more if a later packet may explain it. The events stay in memory.
//
// For a run in progress, only the part that exists when the object is created is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "capture/frame.hpp"
#include "runlog/event.hpp"
#include "trace/timeline/matcher.hpp"
#include "trace/timeline/packet_row.hpp"
#include "trace/timeline/seen_packets.hpp"
#include "trace/timeline/trace_input.hpp"

namespace timeline {

/// Receives a run's rows, each with its work request: for a post_send the one posted, for a wc the
/// one completed; nullptr if there is none.
class RowVisitor {
  public:
    virtual ~RowVisitor() = default;

    /// `t_ns`: the capture's clock.
    virtual void event(const runlog::Event& event, std::int64_t t_ns,
                       const WorkRequest* request) = 0;
    /// `row` has no text. `packet` and `frame` are valid during the call. `number`: in the capture,
    /// from 1.
    virtual void packet(const PacketRow& row, const wire::Packet& packet,
                        const capture::Frame& frame, std::uint64_t number,
                        const WorkRequest* request) = 0;
};

class FinishedRun;

/// Sees the packets of a run while they are joined.
class FirstPass {
  public:
    virtual ~FirstPass() = default;

    /// What `packet` has to be decoded with.
    virtual wire::IcrcCheck icrc() const { return wire::IcrcCheck::Skip; }
    /// Before the first packet: the logs have been read.
    virtual void begin(const FinishedRun& run) = 0;
    /// In the order of the capture. `row` has neither text nor origin.
    virtual void packet(const PacketRow& row, const wire::Packet& packet,
                        const capture::Frame& frame) = 0;
};

/// The hosts of a trace by numeric IP address.
struct Hosts {
    std::string server;  // if not in a log: the host asked for a connection; empty: unknown
    std::map<std::string, std::string> clients;  // -> role, or the address itself
};

class FinishedRun {
  public:
    /// Throws util::Error if the capture is damaged.
    explicit FinishedRun(TraceFiles files, FirstPass* beside = nullptr);
    /// Reads the files that `path` names (trace_files()).
    explicit FinishedRun(const std::string& path) : FinishedRun(trace_files(path)) {}

    /// Reads the capture again. Packets stay in its order, and events are inserted between them by
    /// time.
    void each_row(RowVisitor& visitor, wire::IcrcCheck icrc = wire::IcrcCheck::Compute);
    /// Reads the capture again, without decoding it. `row` has only the packet's time and cause.
    using FrameVisitor = std::function<void(const capture::Frame& frame, const PacketRow& row)>;
    void each_frame(const FrameVisitor& visit);
    /// The events by time. `t_ns`: the capture's clock.
    using EventVisitor = std::function<void(const runlog::Event& event, std::int64_t t_ns)>;
    void each_event(const EventVisitor& visit) const;
    /// The events in the order of each log.
    void each_logged_event(const std::function<void(const runlog::Event& event)>& visit) const;

    const TraceFiles& files() const { return input_.files(); }
    const RunInfo& info() const { return files().info; }
    /// As TraceInput::known_pairs().
    std::vector<flow::KnownQueuePair> known_pairs() const { return input_.known_pairs(); }
    const Matcher& matcher() const { return matcher_; }
    const JoinCount& joins() const { return matcher_.joins(); }
    const std::map<std::string, logged::ClockBounds>& clocks() const { return matcher_.clocks(); }
    Hosts hosts() const;
    /// The offset to add to a role's times to get the capture's.
    std::int64_t shift_of(const std::string& role) const { return matcher_.shift_of(role); }
    /// By queue pair. The rows point to these.
    std::vector<const WorkRequest*> work_requests() const { return matcher_.work_requests(); }
    bool has_capture() const { return has_capture_; }
    /// As TraceInput::capture_damage().
    const std::string& capture_damage() const { return capture_damage_; }
    /// As wire::RoceFlows::left_out_text().
    const std::string& left_out() const { return left_out_; }
    /// Roles whose queue pairs have no packet in the capture.
    std::vector<std::string> absent_roles() const;
    /// Number of packets decoded so far, in all passes.
    std::uint64_t decoded() const { return input_.decoded(); }
    std::uint64_t skipped_lines() const { return input_.skipped_lines(); }

  private:
    struct KeptEvent {
        runlog::Event event;
        std::optional<std::uint32_t> request;  // its number
    };
    // A packet's origin.
    struct Trace {
        enum class Of : std::uint8_t { Nothing, WorkRequest, SetUp };

        std::uint32_t which = 0;   // number of the work request, or index in set_ups_
        std::uint32_t packet = 0;  // as in RequestPacket
        Of of = Of::Nothing;
        bool is_response = false;
        Transmission seen = Transmission::First;
    };

    void read_logs();
    void remove_returned_calls();
    void number_requests();
    void read_capture(FirstPass* beside);
    void note_ends(const PacketRow& row);
    void match_again(const SeenPackets& seen);
    void start_over(const SeenPackets& seen);
    // Times on the capture's clock, with what orders rows of the same time: rank and index.
    using Order = std::tuple<std::int64_t, int, std::size_t>;
    std::vector<Order> order_of_events() const;
    Trace trace_of(const Origin& origin);
    Origin origin_of(const Trace& trace) const;

    TraceInput input_;
    Matcher matcher_;
    std::vector<KeptEvent> events_;
    std::vector<Trace> packets_;
    std::vector<SetUp> set_ups_;                           // without duplicates
    std::vector<const WorkRequest*> requests_;             // by number
    std::map<std::string, std::set<std::uint32_t>> qpns_;  // by role: from its log
    std::set<std::uint32_t> dest_qpns_;                    // of the capture's packets
    std::set<std::string> addresses_;                      // of the capture's packets
    std::string asked_;  // destination of the first connection request, or of the first request
    bool has_capture_ = false;
    std::string capture_damage_;
    std::string left_out_;
};

}  // namespace timeline

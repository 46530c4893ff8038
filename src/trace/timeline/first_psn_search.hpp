// Finds the first PSNs of a trace.
//
// Directions come from the run logs, from connections whose ConnectRequest and ConnectReply are in
// the capture, and, without any log, from the packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/flow/connect.hpp"
#include "trace/timeline/finished_run.hpp"
#include "trace/timeline/first_psn.hpp"
#include "trace/timeline/log_psns.hpp"
#include "trace/timeline/trace_input.hpp"

namespace timeline {

class FirstPsnSearch : public FirstPass {
  public:
    /// Takes the events of each log in order, all before the first packet.
    void learn(const runlog::Event& event);
    /// Learns all events of the run.
    void begin(const FinishedRun& run) override;
    void packet(const PacketRow& row, const wire::Packet& packet,
                const capture::Frame& frame) override;

    /// Call it once, at the end. The result lacks what is known of the files.
    FirstPsns take();

  private:
    // A message with the first PSN of one of two queue pairs. An endpoint has its sender's own
    // first PSN. A connection manager message has the PSN that its sender expects, which is the
    // first PSN of the receiver (Linux drivers/infiniband/core/cm.c: the starting PSN of a
    // ConnectRequest is its sender's rq_psn).
    struct Announcement {
        std::vector<std::uint64_t> FirstPsn::*where = nullptr;
        std::uint32_t qpn = 0;  // the sender's
        std::uint32_t psn = 0;
        bool is_expected = false;
    };
    struct SeenAnnouncement {
        Announcement what;
        std::string source;
        std::uint64_t frame = 0;
    };
    struct Direction {
        FirstPsn first;
        std::string source, destination;  // IP addresses; empty: unknown
        bool has_request = false;
        /// The first request, if it has another PSN than the connection manager announced.
        struct Begun {
            std::uint32_t psn = 0;
            std::vector<std::uint64_t> bths;
            bool was_refused = false;  // the responder expects the announced one
        };
        std::optional<Begun> begun;
    };

    static std::vector<Announcement> announcements(const wire::Packet& packet, util::Bytes frame);
    void take_log();
    void add(Direction direction);
    std::span<const std::size_t> to(const std::string& address, std::uint32_t qpn) const;
    void connect(const flow::StreamKey& datagram, const wire::Cm& message);
    void make(const flow::StreamKey& stream, std::uint32_t qpn, std::uint32_t psn);
    void make_if_new(const PacketKey& key);
    static void note(Direction& direction, const SeenAnnouncement& said);
    static void note(Direction& direction, const PacketKey& key, std::uint64_t frame);
    static void note_begin(Direction& direction, const PacketKey& key, std::uint64_t frame);
    static void take_begin(Direction& direction);

    LogPsns log_;
    bool has_taken_log_ = false;
    flow::Connects connects_;
    std::set<std::uint64_t> connections_;
    std::vector<SeenAnnouncement> said_;
    std::vector<Direction> directions_;
    // Indexes of directions_: by address and number of the queue pair that requests go to, and that
    // they come from.
    std::map<std::pair<std::string, std::uint32_t>, std::vector<std::size_t>> to_, from_;
    FirstPsns all_;
};

/// Reads the files as they are now. Throws util::Error if they cannot be read.
FirstPsns first_psns(TraceInput& input);

}  // namespace timeline

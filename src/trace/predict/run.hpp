// The packets of reliable connections in a capture, and the events of the link emulator, as the
// questions need them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/frame.hpp"
#include "runlog/event.hpp"
#include "trace/flow/tracker.hpp"
#include "trace/predict/altered_packet.hpp"
#include "trace/predict/connections.hpp"
#include "trace/predict/packet.hpp"
#include "trace/timeline/finished_run.hpp"
#include "trace/timeline/packet_row.hpp"
#include "util/cursor.hpp"

namespace predict {

namespace key = runlog::key;

struct Run {
    /// Each with its row, whose text has the PSN as an offset, and the queue pair if there are
    /// several.
    std::vector<ReliablePacket> packets;
    std::vector<timeline::PacketRow> rows;
    std::vector<Connection> connections;

    struct LinkEvent {
        std::string text;  // from the run log
        Placed place;
        bool is_missing = false;  // the packet, temporarily or permanently
        bool is_gone = false;     // permanently
        bool is_request = false;
    };
    /// By the index of the packet that follows; packets.size(): after the last one.
    std::multimap<std::size_t, LinkEvent> events;

    std::map<std::string, std::string> addresses;  // role -> IP address
    bool is_cut = false;                           // the capture has more packets than are kept
    std::string capture_damage;                    // as TraceInput::capture_damage()

    /// "the server", or the address if it has no role, or several.
    std::string name_of(const std::string& address) const;
};

class RunReader : public timeline::FirstPass {
  public:
    struct Limits {
        std::size_t packets = 20'000;  // more than anyone predicts
        /// Of the link emulator. The packets end where the first event beyond this limit would be.
        std::size_t events = std::numeric_limits<std::size_t>::max();
    };
    /// A packet in one line, which becomes the text of its row.
    using Summary = std::function<std::string(const wire::Packet&, util::Bytes frame)>;

    explicit RunReader(Limits limits, Summary summary = {})
        : limits_(limits), summary_(std::move(summary)) {}

    wire::IcrcCheck icrc() const override { return wire::IcrcCheck::Compute; }
    /// Without a run.json, the link emulator's events are also read from a link.jsonl in the
    /// capture's directory.
    void begin(const timeline::FinishedRun& run) override;
    void packet(const timeline::PacketRow& row, const wire::Packet& packet,
                const capture::Frame& frame) override;
    /// Ignores all further packets.
    void cut() { run_.is_cut = true; }
    /// Takes the events in order of time. Uses the times of the link emulator's events only if
    /// their offset to the capture is known.
    void event(const runlog::Event& event, std::int64_t t_ns);

    /// Call it once, after all packets and events. Without a packet of a reliable connection, the run has
    /// none.
    Run take();

  private:
    struct LoggedEvent {
        runlog::Event event;
        AlteredPacket taken;
    };

    void add(const runlog::Event& event, std::optional<std::int64_t> t_ns);
    void read_link_log();
    void drop_strays();
    void place_events();
    void end_at_last_event();
    void learn_roles(const LoggedEvent& logged, const Connection& connection);

    Run run_;
    Limits limits_;
    Summary summary_;
    bool knows_times_ = false;
    bool has_more_events_ = false;
    std::string link_log_;
    flow::Tracker tracker_;
    std::vector<LoggedEvent> logged_;
};

}  // namespace predict

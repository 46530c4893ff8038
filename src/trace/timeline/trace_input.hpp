// Reads the files of a trace as they grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "capture/source.hpp"
#include "trace/timeline/trace_files.hpp"

namespace timeline {

class TraceInput {
  public:
    explicit TraceInput(TraceFiles files) : files_(std::move(files)), flows_(new_flows()) {}

    const TraceFiles& files() const { return files_; }

    /// Returns the next event or frame available now, or std::monostate if there is none at
    /// present.
    using Item = std::variant<std::monostate, runlog::Event, capture::Frame>;
    Item next();
    /// The same for the logs only, the first one first, and for the capture only.
    std::optional<runlog::Event> next_event();
    std::optional<capture::Frame> next_frame();
    /// Whether a stream has ended: its last frame was returned, or it is damaged after it.
    bool has_ended() const;
    /// Reads other logs from now on, and takes what `files` has about their run. The capture stays.
    void take_logs(TraceFiles files);
    /// Decodes a frame; call for each in turn.
    wire::Packet decode(const capture::Frame& frame,
                        wire::IcrcCheck icrc = wire::IcrcCheck::Compute) {
        ++decoded_;
        return capture::decode(frame, flows_, icrc);
    }
    /// Number of calls of decode().
    std::uint64_t decoded() const { return decoded_; }
    /// The next frame will be the first one again.
    void rewind_capture() {
        capture_.reset();
        flows_ = new_flows();
    }
    /// What decode() left out, as wire::RoceFlows::left_out_text().
    std::string left_out() const { return flows_.left_out_text(); }

    bool has_capture() const { return capture_ != nullptr; }
    /// As capture::Source::dropped().
    std::uint64_t dropped() const { return capture_ ? capture_->dropped() : 0; }
    /// Why the capture was not read to its end: it ends inside a packet, or is damaged after its
    /// first packet. Empty if it was.
    std::string capture_damage() const;
    std::uint64_t skipped_lines() const;
    /// The queue pairs of all logs, according to the events so far.
    std::vector<flow::KnownQueuePair> known_pairs() const { return files_.queue_pairs(); }

  private:
    void open_capture();
    void know_hosts(wire::RoceFlows& flows) const;
    wire::RoceFlows new_flows() const;

    TraceFiles files_;
    std::size_t reads_ = 0;  // index of the current log, until it has no more events
    wire::RoceFlows flows_;
    std::uint64_t decoded_ = 0;
    std::unique_ptr<capture::Source> capture_;
    bool has_frame_ = false;
    std::string damage_;
};

}  // namespace timeline

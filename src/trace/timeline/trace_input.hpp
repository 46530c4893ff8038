// Reads the files of a trace as they grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "capture/source.hpp"
#include "runlog/tail.hpp"
#include "trace/timeline/trace_files.hpp"

namespace timeline {

class TraceInput {
  public:
    explicit TraceInput(const TraceFiles& files);

    /// Returns the next event or frame available now, or std::monostate if there is none at
    /// present.
    using Item = std::variant<std::monostate, runlog::Event, capture::Frame>;
    Item next();
    /// The same for the logs only, the first one first, and for the capture only.
    std::optional<runlog::Event> next_event();
    std::optional<capture::Frame> next_frame();
    /// Decodes a frame; call for each in turn.
    wire::Packet decode(const capture::Frame& frame,
                        wire::IcrcCheck icrc = wire::IcrcCheck::Compute) {
        return capture::decode(frame, flows_, icrc);
    }
    /// The next frame will be the first one again.
    void rewind_capture() {
        capture_.reset();
        flows_ = wire::RoceFlows(trust_port_);
    }
    /// What decode() left out, as wire::RoceFlows::left_out_text().
    std::string left_out() const { return flows_.left_out_text(); }

    bool has_capture() const { return capture_ != nullptr; }
    /// Why the capture was not read to its end: it ends inside a packet, or is damaged after its
    /// first packet. Empty if it was.
    std::string capture_damage() const;
    std::uint64_t skipped_lines() const;

  private:
    struct Log {
        LogFile file;
        runlog::Tail tail;
    };
    void open_capture();

    std::vector<Log> logs_;
    std::size_t reads_ = 0;  // index of the current log, until it has no more events
    std::string capture_path_;
    capture::InterfaceChoice interface_;
    bool trust_port_ = false;
    wire::RoceFlows flows_;
    bool grows_ = false;  // the capture belongs to a run and may still grow
    std::unique_ptr<capture::Source> capture_;
    bool has_frame_ = false;
    std::string damage_;
};

}  // namespace timeline

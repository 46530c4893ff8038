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

    /// The next event or frame that is there now; std::monostate where there is none at present.
    using Item = std::variant<std::monostate, runlog::Event, capture::Frame>;
    Item next();
    /// The same of the logs alone, the first one first, and of the capture.
    std::optional<runlog::Event> next_event();
    std::optional<capture::Frame> next_frame();
    /// The next frame will be the first again.
    void rewind_capture() { capture_.reset(); }

    bool has_capture() const { return capture_ != nullptr; }
    /// True where the capture ends inside a packet, or is damaged behind its first.
    bool capture_is_cut() const;
    /// The sentence about it; empty where there is none, and of a run's capture.
    const std::string& capture_damage() const { return damage_; }
    std::uint64_t skipped_lines() const;

  private:
    struct Log {
        LogFile file;
        runlog::Tail tail;
    };
    void open_capture();

    std::vector<Log> logs_;
    std::size_t reads_ = 0;  // which of them, as long as there is something in it
    std::string capture_path_;
    capture::InterfaceChoice interface_;
    bool grows_ = false;  // the capture is a run's, and may still be written
    std::unique_ptr<capture::Source> capture_;
    bool has_frame_ = false;
    std::string damage_;
};

}  // namespace timeline

// One capture of one interface in a row of pcapng files, each complete in itself: a new one is
// begun by size or by time, and only the last few are kept where that is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "capture/live_source.hpp"
#include "capture/pcapng_writer.hpp"

namespace capture {

struct Rotation {
    std::optional<std::uint64_t> bytes{};  // a file that has grown so far gets no more packets
    std::optional<Time> time{};            // from a file's first packet's time on, or the begin
    std::uint64_t keep = UINT64_MAX;       // files, with the one that is being written; at least 1

    bool is_wanted() const { return bytes || time; }
};

/// 12 and "dir/run.pcapng": "dir/run_00012.pcapng".
std::string numbered(const std::string& path, std::uint64_t number);

/// Every function throws as Sink::append() and Sink::create() do.
class RotatingWriter {
  public:
    struct Options {
        std::string path;  // "-": standard output. Rotated: numbered(path, 1) and so on
        util::OutputOptions output{};
        Rotation rotation{};
        PcapngSection section{};
        PcapngInterface interface {};
        Time begin{};                            // of the capture
        std::function<LiveCounters()> counters;  // since then; asked at the end of each file
        std::function<void(Sink&)> opened;       // called with each file before anything is written
    };

    /// Opens the (first) file. Without rotation an older file at `path` is emptied; with it, one
    /// that has the name of a new file is replaced, whoever owns it.
    explicit RotatingWriter(Options options);

    void packet(const Frame& frame);

    /// Ends the last file with its statistics. Each file's are about its own time.
    void close(Time end);

    /// Of the file that is being written.
    Sink& sink() { return file_.sink(); }

  private:
    PcapngWriter open() const;
    bool is_full(Time time) const;
    void begin_next(Time time);
    void end_file(Time end);

    Options options_;
    std::uint64_t number_ = 1;
    PcapngWriter file_;
    Time begin_;  // of the file, as are those below
    LiveCounters before_{};
    std::uint64_t packets_ = 0;
};

}  // namespace capture

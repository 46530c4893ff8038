// One capture of one interface in a sequence of pcapng files, each complete in itself. A new file
// starts by size or by time; optionally only the last few are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "capture/live_source.hpp"
#include "capture/pcapng_writer.hpp"

namespace capture {

struct Rotation {
    std::optional<std::uint64_t> bytes{};  // a file of this size or more gets no more packets
    std::optional<Time> time{};            // since a file's first packet, or the capture's start
    std::uint64_t keep = UINT64_MAX;       // number of files, including the current one; at least 1

    bool is_wanted() const { return bytes || time; }
};

/// Returns "dir/run_00012.pcapng" for "dir/run.pcapng" and 12.
std::string numbered(const std::string& path, std::uint64_t number);

/// Every function throws as Sink::append() and Sink::create() do.
class RotatingWriter {
  public:
    struct Options {
        std::string path;  // "-": standard output. With rotation: numbered(path, 1) and so on
        util::OutputOptions output{};
        Rotation rotation{};
        PcapngSection section{};
        PcapngInterface interface {};
        Time begin{};                            // of the capture
        std::function<LiveCounters()> counters;  // since `begin`; called at the end of each file
        std::function<void(Sink&)> opened;       // called with each file before the first write
    };

    /// Opens the (first) file. Without rotation, empties an existing file at `path`. With rotation,
    /// replaces files with the names of new ones, whoever owns them.
    explicit RotatingWriter(Options options);

    void packet(const Frame& frame);

    /// Ends the last file with its statistics, which cover only that file's time.
    void close(Time end);

    /// Sink of the current file.
    Sink& sink() { return file_.sink(); }

  private:
    PcapngWriter open() const;
    bool is_full(Time time) const;
    void begin_next(Time time);
    void end_file(Time end);

    Options options_;
    std::uint64_t number_ = 1;
    PcapngWriter file_;
    Time begin_;  // of the current file, as below
    LiveCounters before_{};
    std::uint64_t packets_ = 0;
};

}  // namespace capture

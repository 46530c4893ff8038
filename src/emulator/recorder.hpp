// Records the link's traffic in a pcapng file with two interfaces, "before" and "after" the rules,
// and the rules' events in a run log (docs/run-log.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "capture/pcapng_writer.hpp"
#include "emulator/stage.hpp"
#include "runlog/log.hpp"

namespace emulator {

/// What a rule did, for a run log (docs/run-log.md). `frame`: its number in the capture.
runlog::Event log_event(const Sent& sent, const RuleEvent& event,
                        const std::vector<std::string>& hosts, std::optional<std::uint64_t> frame);

class Recorder {
  public:
    explicit Recorder(std::vector<std::string> hosts)
        : hosts_(std::move(hosts)), packets_(hosts_.size()) {}

    /// Stops a current recording first. If `log` is empty, writes no log. Throws util::Error.
    void start(const std::string& capture, const std::string& log);
    /// Returns the number of frames in the file, on both interfaces, or 0 if nothing was recorded.
    /// Throws util::Error.
    std::uint64_t stop();
    bool is_recording() const { return writer_.has_value(); }
    const std::string& path() const { return path_; }
    std::uint64_t frames() const { return frames_; }
    /// The RoCE packets in the file that came from each host, before the rules, or left to it alone,
    /// after them: a capture on the host has at least as many.
    const std::vector<std::uint64_t>& packets() const { return packets_; }

    /// These do not throw: a write error ends the recording, and stop() reports it.
    /// Returns a number for Sent::recorded; 0 if nothing is recorded.
    std::uint64_t before(const ReceivedFrame& arrival, bool is_roce,
                         const std::vector<RuleEvent>& events);
    void acted(const Sent& sent, const RuleEvent& event);
    /// `to`: nullopt if the frame leaves to all other hosts.
    void after(capture::Time time, std::size_t from, std::optional<std::size_t> to,
               util::Bytes bytes, bool is_roce);
    void flush();

  private:
    void write(std::uint32_t interface, capture::Time time, util::Bytes bytes,
               const std::string& comment);
    template <typename Function>
    void guarded(Function function);

    std::vector<std::string> hosts_;
    std::string path_;
    std::string failure_;
    std::optional<capture::PcapngWriter> writer_;
    std::unique_ptr<runlog::Log> log_;
    std::vector<std::uint64_t> packets_;
    std::uint64_t frames_ = 0;   // in the file
    std::uint64_t earlier_ = 0;  // in earlier files
};

}  // namespace emulator

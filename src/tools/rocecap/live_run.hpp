// One live capture from its beginning to its clean end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "capture/live_source.hpp"
#include "capture/rotating_writer.hpp"
#include "tools/rocecap/printer.hpp"
#include "util/privileges.hpp"
#include "util/stop_signal.hpp"

namespace rocecap {

class LiveRun {
  public:
    struct Options {
        std::string interface;
        std::optional<std::string> filter;
        std::optional<std::string> write;  // a path, or "-"
        capture::Rotation rotation;        // of `write`
        std::optional<double> seconds;
        std::uint64_t count = UINT64_MAX;
        Printer::Options display;
        std::optional<std::string> user{};  // for util::plan_privilege_drop()
        bool quiet = false;
        bool promiscuous = false;
        int snaplen = 262144;
        int buffer_mib = 64;
    };

    /// Opens the interface, then the outputs, so that an error does not change an existing file.
    /// Then drops root privileges. The later files of a rotation are created by the unprivileged
    /// user.
    explicit LiveRun(const Options& options);

    /// Captures until a signal, the duration, the count, or an output that has lost its reader.
    /// Returns the exit code. If it throws util::Error, everything captured so far has been
    /// written.
    int run();

  private:
    enum class Wake { packets, end, reader_gone };

    void need_writable_folder() const;
    void open_outputs();
    void prepare(capture::Sink& sink);
    void capture();
    bool take_some(capture::Time until);
    void take(const capture::Frame& frame);
    Wake wait();
    void drain();
    std::array<capture::Sink*, 2> outputs();  // nullptr: not requested
    void flush_some();
    void close();
    void say_ready() const;
    void say_end() const;

    Options options_;
    util::PrivilegeDrop privileges_;
    std::vector<capture::RdmaDevice> rdma_devices_;
    util::StopSignal stop_;
    capture::LiveSource source_;
    std::optional<capture::RotatingWriter> writer_;
    std::optional<Printer> printer_;
    util::Deadline deadline_;
    capture::Time begin_{};
    std::uint64_t packets_ = 0;
};

}  // namespace rocecap

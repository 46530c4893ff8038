// A trace in progress, for rocecap timeline --follow and annotate --follow.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/timeline/matcher.hpp"
#include "trace/timeline/timeline.hpp"
#include "trace/timeline/trace_files.hpp"
#include "trace/timeline/trace_input.hpp"
#include "util/stop_signal.hpp"

namespace rocecap {

/// Reads a run or a stream while it grows. What a derived class does with the rows is its own.
class Follower {
  public:
    explicit Follower(timeline::TraceFiles files) : input_(std::move(files)) {}
    virtual ~Follower() = default;
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;
    Follower(Follower&&) = delete;
    Follower& operator=(Follower&&) = delete;

  protected:
    using Arrival = timeline::Timeline::Arrival;

    // Logs and packets arrive over separate connections: a row waits this long for one that
    // happened before it. On busy hosts a log can be seconds late: a packet waits for its event up
    // to `longest_hold`.
    static constexpr std::chrono::milliseconds hold{300};
    static constexpr std::chrono::milliseconds longest_hold{5000};
    static constexpr std::chrono::milliseconds look_again{50};

    /// Until the run or the stream has ended, or a stop is requested. `frames_at_once`: frames read
    /// between two calls of release().
    void follow(util::StopSignal& stop, std::size_t frames_at_once = SIZE_MAX);

    /// Called before the files are read.
    virtual void before_input() {}
    virtual void take(runlog::Event event, Arrival now) = 0;
    virtual void take(const capture::Frame& frame, Arrival now) = 0;
    /// Passes on what waits no longer; everything at Arrival::max(), the end.
    virtual void release(Arrival now) = 0;
    virtual bool holds_rows() const = 0;

    timeline::TraceInput& input() { return input_; }
    const timeline::TraceInput& input() const { return input_; }
    const timeline::TraceFiles& files() const { return input_.files(); }

  private:
    bool has_ended() const;
    bool take_in(std::size_t frames_at_once);

    timeline::TraceInput input_;
};

/// Lists a run until it ends.
void follow(timeline::TraceFiles files, const Context& context);

/// Lists a run that has ended, as rocecap timeline does.
void list_run(const TraceArguments& trace, const Context& context);

/// The lines below a listing.
std::string end_of_listing(bool has_capture, bool has_logs, const timeline::Matcher& run,
                           const std::string& damage, std::uint64_t skipped_lines);

}  // namespace rocecap

// Logs every verbs and rdma_cm call of this program, as rocetrace does for any program
// (docs/tracing.md). Lessons link the wrappers of src/rocetrace/interpose and so need no logging
// between the verbs.
#pragma once

#include "examples/common/program.hpp"

namespace common {

/// Wraps `run` so that its calls are logged. Under rocetrace(1), rocetrace logs them.
common::CommandLine::Run traced(common::CommandLine::Run run);

/// From now on, does not log work requests, completions, or events of completion queues and of the
/// device: for long measurements and for programs that log these themselves. Only in the thread of
/// `run`, before its first request.
void trace_no_requests();

/// While one exists, calls are recorded but not written to the log, because writing a line takes
/// longer than a call. The destructor writes them. Only in the thread of `run`, which must not log
/// meanwhile. A follower of the run waits 300 ms for a packet's event: a longer measurement should
/// call write() periodically.
class HeldTrace {
  public:
    HeldTrace();
    ~HeldTrace() { write_and_hold(false); }
    HeldTrace(const HeldTrace&) = delete;
    HeldTrace& operator=(const HeldTrace&) = delete;
    HeldTrace(HeldTrace&&) = delete;
    HeldTrace& operator=(HeldTrace&&) = delete;

    void write() { write_and_hold(true); }

  private:
    static void write_and_hold(bool is_held);
};

}  // namespace common

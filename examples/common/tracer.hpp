// Logs every verbs and rdma_cm call of this program in its run log, as rocetrace does for any program
// (docs/tracing.md): the calls go through the functions of src/rocetrace/interpose, which a lesson is linked
// with. So a lesson has no logging between its verbs.
#pragma once

#include "examples/common/program.hpp"

namespace common {

/// `run` with its calls logged. A program that rocetrace(1) runs leaves it to rocetrace.
common::CommandLine::Run traced(common::CommandLine::Run run);

/// From here on work requests, completions, and events of completion queues and of the device are not
/// logged: for a long measurement, and for a program that has to log these itself. Only in the thread of `run`, before its first request.
void trace_no_requests();

/// For a measurement: while one exists, calls are recorded but not written to the log, as writing a
/// line takes longer than a call. Its destructor writes them. Only in the thread of `run`; the
/// program itself logs nothing meanwhile. Whoever follows the run waits 300 ms for an event that
/// belongs to a packet: a longer measurement calls write() now and then.
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

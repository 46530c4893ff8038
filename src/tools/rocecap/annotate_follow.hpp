// rocecap annotate --follow: a capture that grows.
#pragma once

#include <string>

#include "capture/sink.hpp"
#include "trace/timeline/trace_files.hpp"
#include "util/stop_signal.hpp"

namespace rocecap {

/// Writes each packet when its cause is known, or when its event has not come in time. `runs`: a
/// folder of runs whose newest one has the logs of a stream; empty: none. `output`: of messages.
void annotate_following(timeline::TraceFiles files, const std::string& runs, capture::Sink sink,
                        const std::string& output, util::StopSignal& stop);

}  // namespace rocecap

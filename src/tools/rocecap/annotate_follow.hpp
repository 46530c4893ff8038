// rocecap annotate --follow: a capture that grows.
#pragma once

#include <string>

#include "trace/timeline/trace_files.hpp"

namespace rocecap {

/// Writes each packet when its cause is known, or when its event has not come in time. `runs`: a
/// folder of runs whose newest one has the logs of a stream; empty: none. `output`: a file; "-":
/// standard output.
void annotate_following(timeline::TraceFiles files, const std::string& runs,
                        const std::string& output);

}  // namespace rocecap

// The overview of a run on the page: place, time and result.
#pragma once

#include <string>

#include "render/page/archive.hpp"
#include "trace/timeline/finished_run.hpp"
#include "util/json.hpp"

namespace page {

/// [[name, value, is_bad], ...], from run.json and the joined run.
util::Json facts_of(const timeline::FinishedRun& run);

/// One line: the run's directory or the capture, its time, and how it ended.
std::string about(const timeline::TraceFiles& files);

}  // namespace page

// What the page says of a run above its rows: where and when it was, and how it came out.
#pragma once

#include <string>

#include "page/archive.hpp"
#include "timeline/finished_run.hpp"

namespace page {

/// [[name, value, is_bad], ...], from run.json and the joined run.
Json facts_of(const Json& run_json, const timeline::FinishedRun& run);

/// One line: the run's directory or the capture, when it was, and how it ended.
std::string about(const Json& run_json, const timeline::TraceFiles& files);

}  // namespace page

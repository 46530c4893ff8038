// What the page says of a run above its rows: where and when it was, and how it came out.
#pragma once

#include <string>

#include "render/page/archive.hpp"
#include "trace/timeline/finished_run.hpp"
#include "util/json.hpp"

namespace page {

/// [[name, value, is_bad], ...], from run.json and the joined run.
util::Json facts_of(const util::Json& run_json, const timeline::FinishedRun& run);

/// One line: the run's directory or the capture, when it was, and how it ended.
std::string about(const util::Json& run_json, const timeline::TraceFiles& files);

}  // namespace page

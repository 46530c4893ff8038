// The check of a capture's reliable connections, for programs.
#pragma once

#include "report/check_text.hpp"
#include "report/json.hpp"

namespace report {

/// {"frames", "connections", "recoveries", "deviations", "counters"}: one object for a capture.
Json check_json(const conformance::Report& report, const CheckContext& context);

}  // namespace report

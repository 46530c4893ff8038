// The check of a capture's reliable connections, for programs.
#pragma once

#include "render/check_text.hpp"
#include "util/json.hpp"

namespace render {

/// {"frames", "connections", "recoveries", "deviations", "counters"}: one object for a capture.
util::Json check_json(const conformance::Report& report, const CheckContext& context);

}  // namespace render

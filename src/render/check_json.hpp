// The check of a capture's reliable connections as JSON.
#pragma once

#include "render/check_text.hpp"
#include "util/json.hpp"

namespace render {

/// {"frames", "connections", "recoveries", "deviations", "counters"}: one object per capture.
util::Json check_json(const conformance::Report& report, const CheckContext& context);

}  // namespace render

// The check of a capture's reliable connections as JSON.
#pragma once

#include <functional>
#include <string_view>

#include "render/check_text.hpp"

namespace render {

/// Takes the next part of the text.
using Write = std::function<void(std::string_view)>;

/// {"frames", "connections", "recoveries", "deviations", "counters"}: one object and a line feed.
void check_json(const conformance::Report& report, const CheckContext& context, const Write& write);

}  // namespace render

// Output of `rocewire status`, for a terminal of 100 columns.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace rocewire {

/// `now`: a reply to {"do":"status"}; `before`: the reply of a second ago, or null to print no
/// rates.
std::string listing(const nlohmann::ordered_json& now, const nlohmann::ordered_json& before);

}  // namespace rocewire

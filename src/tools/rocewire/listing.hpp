// What `rocewire status` shows, for a terminal of 100 columns.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace rocewire {

/// `now`: an answer to {"do":"status"}; `before`: the one of a second ago, or null: then without
/// rates.
std::string listing(const nlohmann::ordered_json& now, const nlohmann::ordered_json& before);

}  // namespace rocewire

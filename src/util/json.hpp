// JSON values whose objects keep the order of their keys.
#pragma once

#include <nlohmann/json.hpp>

namespace util {

using Json = nlohmann::ordered_json;

}  // namespace util

// The fields that `set` can write: those of the RoCE headers, and of IP what routers change.
#pragma once

#include <string_view>
#include <vector>

#include "filter/field.hpp"

namespace emulator {

std::vector<const filter::Field*> writable_fields();

/// Returns nullptr if the field does not exist or cannot be set.
const filter::Field* find_writable(std::string_view name);

}  // namespace emulator

// The version of the programs, as --version and the manual pages have it.
#pragma once

#include <string_view>

namespace util {

inline constexpr std::string_view version = "0.2.0";

}  // namespace util

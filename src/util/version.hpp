// The version of the programs, for --version and the manual pages.
#pragma once

#include <string_view>

namespace util {

inline constexpr std::string_view version = "0.2.0";

}  // namespace util

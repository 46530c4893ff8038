// The scripts that the harness runs in a page; each evaluates to a promise.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace support {

/// Evaluates the expression once per frame, and gives true as soon as it is true; after `limit`,
/// its last value as text.
std::string wait_script(std::string_view expression, std::chrono::milliseconds limit);

/// Gives {x, y}, the middle of the first element that matches, after it is in view and does not
/// move; rejects if a pointer would hit another element there.
std::string centre_script(std::string_view selector);

}  // namespace support

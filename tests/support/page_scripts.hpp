// The scripts that the harness runs in a page; each becomes a promise.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace support {

/// True as soon as the expression is, looked at once a frame; after `limit`, as text, what it was
/// at last.
std::string wait_script(std::string_view expression, std::chrono::milliseconds limit);

/// {x, y}, the middle of the first element that matches, once it is in view and still; rejects
/// where it is not what a pointer would meet there.
std::string centre_script(std::string_view selector);

}  // namespace support

// Writes a text as a JSON string (RFC 8259).
#pragma once

#include <string_view>

#include "util/composer.hpp"

namespace util {

/// In quotes, with the escapes that JSON requires: quotes, backslashes, control characters. A byte
/// that is not part of valid UTF-8 becomes U+FFFD.
void append_json_string(Composer& out, std::string_view text);

}  // namespace util

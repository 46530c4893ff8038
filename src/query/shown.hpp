// What a person typed, within a sentence about it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace query {

/// `text` with a '?' for each control character: none reaches the terminal, and no NUL ends the
/// sentence.
inline std::string shown(std::string_view text) {
    std::string out(text);
    std::ranges::replace_if(
        out, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    return out;
}

}  // namespace query

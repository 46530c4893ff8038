// Decodes text that may not be valid UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace util {

struct Character {
    std::size_t size = 1;            ///< bytes
    std::optional<char32_t> code{};  ///< nullopt: the byte is not part of valid UTF-8
};

/// Decodes the first character. `text` must not be empty. Source: RFC 3629.
Character first_character(std::string_view text);

/// Number of characters: all bytes except continuation bytes.
std::size_t characters(std::string_view text);

}  // namespace util

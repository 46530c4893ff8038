#pragma once

// Numbers in texts.

#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>

namespace util {

/// number_of<double>(): not every C++ library has std::from_chars() of floating-point numbers.
std::optional<double> real_number_of(std::string_view text);

/// Returns the number that is the whole text; nullopt if the text has anything else, or if the
/// number does not fit. Floating-point numbers include "inf" and "nan", and ignore `base`.
template <typename Number>
std::optional<Number> number_of(std::string_view text, int base = 10) {
    if constexpr (std::is_same_v<Number, double>) {
        return real_number_of(text);
    } else {
        Number number{};
        const char* end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, number, base);
        return result.ec == std::errc() && result.ptr == end ? std::optional(number) : std::nullopt;
    }
}

/// The same for a number in decimal, or in hexadecimal with the prefix 0x.
template <typename Number>
std::optional<Number> prefixed_number_of(std::string_view text) {
    return text.starts_with("0x") ? number_of<Number>(text.substr(2), 16) : number_of<Number>(text);
}

}  // namespace util

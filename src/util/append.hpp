// Writes numbers as text into an array or to the end of a string, for hot paths.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

namespace util {

/// Maximum length of a number: the digits of 2^64 - 1, or of -2^63 with its sign.
inline constexpr std::size_t longest_decimal = 20;

/// Writes to `at`, which needs room for longest_decimal characters, and returns the end.
template <std::integral Number>
char* put_decimal(char* at, Number value) {
    return std::to_chars(at, at + longest_decimal, value).ptr;
}

/// Writes the lowest `digits` hexadecimal digits of `value`, without a prefix. Returns the end.
inline char* put_hex(char* at, std::uint64_t value, std::size_t digits) {
    constexpr std::array<char, 17> names{"0123456789abcdef"};
    for (std::size_t i = digits; i-- > 0; value >>= 4)
        at[i] = names[value & 0xfU];
    return at + digits;
}

/// Writes exactly `digits` decimal digits of `value`, with leading zeros. Returns the end.
inline char* put_digits(char* at, std::uint64_t value, std::size_t digits) {
    constexpr unsigned ten = 10;
    for (std::size_t i = digits; i-- > 0; value /= ten)
        at[i] = static_cast<char>('0' + value % ten);
    return at + digits;
}

/// Adds leading zeros up to `width` digits.
template <std::integral Number>
void append_decimal(std::string& out, Number value, std::size_t width = 0) {
    std::array<char, longest_decimal> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const auto length = static_cast<std::size_t>(put_decimal(digits.data(), value) - digits.data());
    if (length < width)
        out.append(width - length, '0');
    out.append(digits.data(), length);
}

/// Appends the lowest `digits` hexadecimal digits of `value`, at most 16, without a prefix.
inline void append_hex(std::string& out, std::uint64_t value, std::size_t digits) {
    std::array<char, 16> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): written below
    put_hex(text.data(), value, digits);
    out.append(text.data(), digits);
}

}  // namespace util

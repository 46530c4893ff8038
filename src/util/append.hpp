// Numbers behind a growing text, without a string of their own in between: what a hot path writes
// with.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

namespace util {

/// With zeros in front where there are fewer than `width` digits.
template <std::integral Number>
void append_decimal(std::string& out, Number value, std::size_t width = 0) {
    std::array<char, 24> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init): written below
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    const auto length = static_cast<std::size_t>(end - digits.data());
    if (length < width)
        out.append(width - length, '0');
    out.append(digits.data(), length);
}

/// The lowest `digits` hexadecimal digits of `value`, at most 16, without a prefix.
inline void append_hex(std::string& out, std::uint64_t value, std::size_t digits) {
    constexpr std::array<char, 17> names{"0123456789abcdef"};
    std::array<char, 16> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): written below
    for (std::size_t i = digits; i-- > 0; value >>= 4)
        text[i] = names[value & 0xfU];
    out.append(text.data(), digits);
}

}  // namespace util

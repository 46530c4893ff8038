#include "tools/rocecap/validators.hpp"

#include <charconv>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace rocecap {
namespace {

template <typename Number>
bool is_in(const std::string& text, Number least, Number most) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    // This form rejects NaN.
    return error == std::errc() && rest == end && value >= least && value <= most;
}

}  // namespace

CLI::Validator is_count() {
    return {[](const std::string& text) -> std::string {
                if (is_in<std::uint64_t>(text, 1, UINT64_MAX))
                    return {};
                return fmt::format("'{}' is not a whole number of 1 or more", text);
            },
            ""};
}

CLI::Validator is_duration() {
    return {[](const std::string& text) -> std::string {
                constexpr double longest = 1e8;
                if (is_in(text, 0.0, longest))
                    return {};
                return fmt::format("'{}' is not a number of seconds from 0 to 100000000", text);
            },
            ""};
}

}  // namespace rocecap

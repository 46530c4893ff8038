#include "tools/rocecap/validators.hpp"

#include <string>

#include <fmt/format.h>

#include "util/number.hpp"

namespace rocecap {
CLI::Option* add_count_option(CLI::App& command, const char* names, std::uint64_t& count,
                              const char* help) {
    const auto check = [](const std::string& text) -> std::string {
        if (util::number_of<std::uint64_t>(text).value_or(0) != 0)
            return {};
        return fmt::format("'{}' is not a whole number of 1 or more", text);
    };
    return command.add_option(names, count, help)->check(CLI::Validator(check, ""))->type_name("N");
}

CLI::Validator is_duration() {
    return {[](const std::string& text) -> std::string {
                constexpr double longest = 1e8;
                const auto seconds = util::number_of<double>(text);
                // This form rejects NaN.
                if (seconds && *seconds >= 0 && *seconds <= longest)
                    return {};
                return fmt::format("'{}' is not a number of seconds from 0 to 100000000", text);
            },
            ""};
}

}  // namespace rocecap

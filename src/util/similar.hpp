// Words that a user may have meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace util {

/// Number of changed, missing, added and swapped letters.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// What is wrong with the arguments that CLI11 left over. `options`: the names of those that exist.
std::string unexpected(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& options);

/// The same, of a CLI::App whose parsing ended with `error`, or the error's text if none is left over.
template <typename App, typename Error>
std::string usage_error(const App& app, const Error& error) {
    const std::vector<std::string> left = app.remaining(true);
    if (left.empty())
        return error.what();
    std::vector<std::string> names;
    const auto add = [&](const App& one) {
        for (const auto* option : one.get_options())
            for (const std::string& name : option->get_lnames())
                names.push_back("--" + name);
    };
    add(app);
    for (const App* command : app.get_subcommands())
        add(*command);
    return unexpected(left, names);
}

}  // namespace util

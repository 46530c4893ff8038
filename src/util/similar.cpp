#include "util/similar.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "util/printable.hpp"

namespace util {

// Optimal string alignment.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + changed});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

std::string unexpected(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& options) {
    const auto is_option = [](const std::string& one) { return one.starts_with('-'); };
    const auto wrong = std::ranges::find_if(arguments, is_option);
    if (wrong == arguments.end())
        return fmt::format("the argument '{}' is not expected.", printable(arguments.front()));
    const std::string name = wrong->substr(0, wrong->find('='));
    constexpr std::size_t far = 3;
    const auto distance = [&](const std::string& option) { return edit_distance(name, option); };
    const auto best = std::ranges::min_element(options, {}, distance);
    const bool is_similar = best != options.end() && name.size() > far && distance(*best) < far;
    return fmt::format("there is no option '{}'{}", printable(name),
                       is_similar ? fmt::format(" (did you mean '{}'?).", *best) : ".");
}

}  // namespace util

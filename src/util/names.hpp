#pragma once

// Tables of names.

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

namespace util {

template <typename Number>
struct Named {
    Number number;
    std::string_view name;
};

/// Returns the name of `number`, or `otherwise` if the table does not have it.
template <typename Number, std::size_t Size>
constexpr std::string_view name_in(const std::array<Named<Number>, Size>& table,
                                   std::type_identity_t<Number> number,
                                   std::string_view otherwise = {}) {
    const auto found = std::ranges::find(table, number, &Named<Number>::number);
    return found == table.end() ? otherwise : found->name;
}

}  // namespace util

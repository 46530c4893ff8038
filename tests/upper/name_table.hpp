// Compares a function that names numbers with a specification's whole table, for tests.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include <gtest/gtest.h>

namespace upper_test {

using NameTable = std::map<std::uint32_t, std::string_view>;

/// Expects the table's names for its numbers, and no name for the others up to `last`.
template <typename NameOf>
void expect_names(const NameTable& table, std::uint32_t last, NameOf name_of) {
    for (std::uint32_t number = 0; number <= last; ++number) {
        const auto row = table.find(number);
        EXPECT_EQ(name_of(number), row == table.end() ? std::string_view() : row->second)
            << "number " << number;
    }
}

}  // namespace upper_test

#include "bench/statistics.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace {

TEST(Ratios, are_taken_round_by_round) {
    // A disturbance that affects both does not change the result. The ratio of the medians would be
    // 30 / 20.
    const bench::Spread spread = bench::ratios({20, 60, 30}, {10, 30, 20});
    EXPECT_EQ(spread.q1, 1.5);
    EXPECT_EQ(spread.median, 2);
    EXPECT_EQ(spread.q3, 2);
}

TEST(Ratios, want_as_many_values_on_both_sides) {
    EXPECT_THROW(bench::ratios({1, 2}, {1}), std::invalid_argument);
}

}  // namespace

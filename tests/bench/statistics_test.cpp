#include "bench/statistics.hpp"

#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

namespace {

std::vector<double> one_to(int last) {
    std::vector<double> values(static_cast<std::size_t>(last));
    std::iota(values.rbegin(), values.rend(), 1.0);  // the largest first: order must not matter
    return values;
}

TEST(Percentile, is_the_nearest_rank) {
    EXPECT_EQ(bench::percentile(one_to(200), 50), 100);
    EXPECT_EQ(bench::percentile(one_to(200), 99), 198);
    EXPECT_EQ(bench::percentile(one_to(200), 100), 200);
    EXPECT_EQ(bench::percentile(one_to(5), 50), 3);
    EXPECT_EQ(bench::percentile(one_to(10), 99), 10) << "of few values the largest";
}

TEST(Percentile, of_one_value_is_that_value_and_of_none_is_zero) {
    EXPECT_EQ(bench::percentile({7}, 1), 7);
    EXPECT_EQ(bench::percentile({7}, 99), 7);
    EXPECT_EQ(bench::percentile({}, 50), 0);
}

TEST(Ratios, are_taken_round_by_round) {
    // A disturbance that both share does not show; the ratio of the medians would be 30 / 20.
    const bench::Spread spread = bench::ratios({20, 60, 30}, {10, 30, 20});
    EXPECT_EQ(spread.q1, 1.5);
    EXPECT_EQ(spread.median, 2);
    EXPECT_EQ(spread.q3, 2);
}

TEST(Ratios, want_as_many_values_on_both_sides) {
    EXPECT_THROW(bench::ratios({1, 2}, {1}), std::invalid_argument);
}

}  // namespace

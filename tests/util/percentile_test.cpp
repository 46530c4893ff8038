#include "util/percentile.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace {

std::vector<double> one_to(int last) {
    std::vector<double> values(static_cast<std::size_t>(last));
    std::iota(values.rbegin(), values.rend(), 1.0);  // descending: the order must not matter
    return values;
}

TEST(Percentile, is_the_nearest_rank) {
    EXPECT_EQ(util::percentile(one_to(200), 50), 100);
    EXPECT_EQ(util::percentile(one_to(200), 99), 198);
    EXPECT_EQ(util::percentile(one_to(200), 100), 200);
    EXPECT_EQ(util::percentile(one_to(5), 50), 3);
    EXPECT_EQ(util::percentile(one_to(10), 99), 10) << "of few values the largest";
}

TEST(Percentile, half_of_two_is_the_smaller_and_99_of_100_is_the_99th) {
    EXPECT_EQ(util::percentile(std::vector{9, 4}, 50), 4);
    EXPECT_EQ(util::percentile(one_to(100), 99), 99);
    EXPECT_EQ(util::percentile(one_to(101), 99), 100);
}

TEST(Percentile, of_one_value_is_that_value_and_of_none_is_zero) {
    EXPECT_EQ(util::percentile(std::vector{7}, 1), 7);
    EXPECT_EQ(util::percentile(std::vector{7}, 99), 7);
    EXPECT_EQ(util::percentile(std::vector<int>(), 50), 0);
}

}  // namespace

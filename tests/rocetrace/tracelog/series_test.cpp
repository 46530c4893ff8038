#include "rocetrace/tracelog/series.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace series_test {

using tracelog::Series;
using Counts = std::vector<std::uint64_t>;

TEST(Series, is_empty_without_a_count) {
    const Series series(Series::Keeps::most);
    EXPECT_EQ(series.intervals(10), Counts{});
    EXPECT_EQ(series.duration_ns(), 0);
}

TEST(Series, has_the_extreme_of_each_interval_and_carries_a_count_into_the_next) {
    Series most(Series::Keeps::most);
    Series least(Series::Keeps::least);
    for (const auto& [t, count] :
         {std::pair{100, 4}, {101, 9}, {102, 2}, {105, 3}, {107, 0}, {109, 1}}) {
        most.add(t, static_cast<std::uint64_t>(count));
        least.add(t, static_cast<std::uint64_t>(count));
    }
    EXPECT_EQ(most.intervals(64), (Counts{4, 9, 9, 2, 2, 3, 3, 3, 0, 1}));
    EXPECT_EQ(most.intervals(5), (Counts{9, 9, 3, 3, 1}));
    EXPECT_EQ(least.intervals(64), (Counts{4, 4, 2, 2, 2, 2, 3, 0, 0, 0}));
    EXPECT_EQ(least.intervals(1), (Counts{0}));
    EXPECT_EQ(most.duration_ns(), 9);
}

TEST(Series, keeps_extremes_however_long_it_becomes) {
    Series series(Series::Keeps::most);
    constexpr std::int64_t hour = 3'600'000'000'000;
    for (std::int64_t t = 0; t <= hour; t += hour / 10'000)
        series.add(t, t == hour / 2 ? 77 : 5);
    const Counts counts = series.intervals(10);
    EXPECT_LE(counts.size(), 10U);
    EXPECT_GE(counts.size(), 5U);
    EXPECT_EQ(std::ranges::count(counts, 77U), 1);
    EXPECT_EQ(std::ranges::count(counts, 5U), static_cast<std::ptrdiff_t>(counts.size()) - 1);
    EXPECT_EQ(counts[counts.size() / 2], 77U);
}

TEST(Series, takes_an_earlier_time_as_in_the_first_interval) {
    Series series(Series::Keeps::least);
    series.add(1000, 5);
    series.add(1, 3);
    EXPECT_EQ(series.intervals(10), Counts{3});
}

}  // namespace series_test

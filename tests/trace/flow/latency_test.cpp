#include "trace/flow/latency.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace latency_test {

using flow::Latency;

constexpr std::size_t enough_pages = 64;

std::int64_t exact(std::vector<std::int64_t> samples, double share) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(samples.size())));
    std::ranges::sort(samples);
    return samples[rank - 1];
}

void expect_close(std::int64_t measured, std::int64_t truth) {
    EXPECT_LE(std::abs(measured - truth) * 64, truth) << measured << " for " << truth;
}

TEST(Latency, percentiles_are_within_a_64th_of_the_exact_ones) {
    std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same in every run
    for (const double scale : {30.0, 5e2, 2e4, 1e6, 3e8, 5e9})
        for (const std::size_t count : {1U, 2U, 7U, 100U, 101U, 5000U}) {
            std::lognormal_distribution<double> time(std::log(scale), 1);
            Latency::Pages pages(enough_pages);
            Latency latency;
            std::vector<std::int64_t> samples;
            for (std::size_t i = 0; i < count; ++i) {
                samples.push_back(std::min<std::int64_t>(static_cast<std::int64_t>(time(random)),
                                                         (std::int64_t{1} << 36) - 1));
                latency.add(samples.back(), pages);
            }
            const auto summary = latency.summary(pages);
            EXPECT_EQ(summary.count, count);
            EXPECT_EQ(summary.left_out, 0U);
            EXPECT_EQ(summary.max, std::ranges::max(samples));
            expect_close(summary.p50, exact(samples, 0.50));
            expect_close(summary.p99, exact(samples, 0.99));
            latency.release(pages);
            EXPECT_EQ(pages.in_use(), 0U);
        }
}

TEST(Latency, times_below_64_ns_are_exact) {
    for (std::int64_t ns = 0; ns < 64; ++ns) {
        Latency::Pages pages(enough_pages);
        Latency latency;
        for (const std::int64_t sample : {std::int64_t{0}, ns, std::int64_t{1000}})
            latency.add(sample, pages);
        EXPECT_EQ(latency.summary(pages).p50, ns);
    }
}

TEST(Latency, packets_in_the_wrong_order_count_as_no_time) {
    Latency::Pages pages(enough_pages);
    Latency latency;
    latency.add(-5, pages);
    const auto summary = latency.summary(pages);
    EXPECT_EQ(summary.count, 1U);
    EXPECT_EQ(summary.p50, 0);
    EXPECT_EQ(summary.max, 0);
}

TEST(Latency, a_time_beyond_the_last_bucket_keeps_its_exact_maximum) {
    constexpr std::int64_t longest = std::int64_t{1} << 36;
    Latency::Pages pages(enough_pages);
    Latency latency;
    latency.add(longest * 3, pages);
    EXPECT_EQ(latency.summary(pages).max, longest * 3);
    EXPECT_EQ(latency.summary(pages).count, 1U);
}

TEST(Latency, samples_without_room_are_left_out_and_counted) {
    Latency::Pages pages(2);  // one for the directory, one for a power of two
    Latency latency;
    latency.add(100, pages);
    latency.add(100'000, pages);
    const auto summary = latency.summary(pages);
    EXPECT_EQ(summary.count, 2U);
    EXPECT_EQ(summary.left_out, 1U);
    expect_close(summary.p99, 100);
    EXPECT_EQ(summary.max, 100'000);
}

TEST(Latency, without_any_page_only_count_and_maximum_are_known) {
    Latency::Pages pages(1);
    pages.take();
    Latency latency;
    latency.add(100, pages);
    const auto summary = latency.summary(pages);
    EXPECT_EQ(summary.count, 1U);
    EXPECT_EQ(summary.left_out, 1U);
    EXPECT_EQ(summary.max, 100);
}

}  // namespace latency_test

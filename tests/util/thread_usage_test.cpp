#include "util/thread_usage.hpp"

#include <poll.h>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using util::ThreadUsage;

TEST(ThreadUsage, work_takes_processor_time) {
    const ThreadUsage before = ThreadUsage::now();
    while ((ThreadUsage::now() - before).cpu < 5ms) {
    }
    EXPECT_GE((ThreadUsage::now() - before).cpu, 5ms);
}

TEST(ThreadUsage, waiting_takes_sleeps_and_hardly_any_processor_time) {
    const ThreadUsage before = ThreadUsage::now();
    const auto began = std::chrono::steady_clock::now();
    ASSERT_EQ(poll(nullptr, 0, 50), 0);
    const ThreadUsage used = ThreadUsage::now() - before;
    EXPECT_GE(std::chrono::steady_clock::now() - began, 50ms);
    EXPECT_LT(used.cpu, 25ms);
    EXPECT_GE(used.sleeps, 1u);
}

TEST(ThreadUsage, is_summed_and_subtracted_field_by_field) {
    ThreadUsage sum{3us, 1};
    sum += {4us, 2};
    EXPECT_EQ(sum.cpu, 7us);
    EXPECT_EQ(sum.sleeps, 3u);
    const ThreadUsage left = sum - ThreadUsage{5us, 1};
    EXPECT_EQ(left.cpu, 2us);
    EXPECT_EQ(left.sleeps, 2u);
}

}  // namespace

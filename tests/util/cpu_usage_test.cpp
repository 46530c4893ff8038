#include "util/cpu_usage.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

TEST(CpuUsage, counts_what_this_process_does_also_as_the_machines) {
    const auto before = util::CpuUsage::now();
    util::CpuUsage used;
    volatile unsigned work = 0;
    while ((used = util::CpuUsage::now() - before).process() < 100ms)
        for (int i = 0; i < 100'000; ++i)
            work = work + 1;
    EXPECT_GT(used.user, 0ms);
    EXPECT_GE(used.machine(), 50ms);  // in ticks
    EXPECT_GT(used.machine_user, 0ms);
}

}  // namespace

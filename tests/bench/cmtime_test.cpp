#include "bench/setup/cmtime.hpp"

#include <gtest/gtest.h>

namespace {

// As cmtime of rdma-core 44 printed it.
const std::string output = R"(creating id
resolving address
step              total ms     max ms     min us  us / conn
create id    :        0.66       0.08       5.00      13.28
resolve addr :       67.58      66.29   49533.00    1351.56
resolve route:        8.22       5.66      31.00     164.36
create qp    :       38.53      15.02     101.00     770.64
connect      :      368.67     335.03  287925.00    7373.46
disconnect   :      188.80     118.02    3983.00    3776.06
destroy      :        1.44       0.57       9.00      28.70
)";

TEST(Cmtime, steps_are_read_in_order) {
    const auto steps = bench::parse_cmtime(output);
    ASSERT_EQ(steps.size(), 7U);
    EXPECT_EQ(steps[1].name, "resolve addr");
    EXPECT_EQ(steps[1].us_per_connection, 1351.56);
    EXPECT_EQ(steps[6].name, "destroy");
}

TEST(Cmtime, the_set_up_ends_with_connect) {
    EXPECT_NEAR(bench::set_up_time(bench::parse_cmtime(output)),
                13.28 + 1351.56 + 164.36 + 770.64 + 7373.46, 0.001);
}

TEST(Cmtime, what_is_no_table_has_no_steps) {
    EXPECT_TRUE(bench::parse_cmtime("event: RDMA_CM_EVENT_REJECTED, error: 8\n").empty());
}

}  // namespace

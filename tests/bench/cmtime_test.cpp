#include "bench/setup/cmtime.hpp"

#include <gtest/gtest.h>

namespace {

// The output of cmtime in rdma-core 44.
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

TEST(Cmtime, the_table_of_rdma_core_56_is_read_up_to_its_second_part) {
    const auto steps = bench::parse_cmtime(R"(qp_conn                50
threads                 1
step             avg/iter  total(us)    us/conn    sum(us)    max(us)    min(us)
full connect         2420     121013          0          0     119802      31867
create id              23       1161         22       1129        372          5
bind addr               0          0          0          0          0          0
resolve addr           38       1944        690      34542        810        278
resolve route          36       1814        520      26044        881        100
create qp             263      13199        260      13003       6183         70
init qp attr            0          0          4        206         54          2
init qp                12        611          5        293         57          4
cm connect           2044     102249      67491    3374551      99185      13113
destroy qp             88       4422         87       4383        689         48
Connect (50) test - no QPs
cm_conn                50
full connect          608      30412          0          0      29898      14881
)");
    ASSERT_EQ(steps.size(), 6U) << "without the sum, the end, and what took no time";
    EXPECT_EQ(steps[5].name, "connect");
    EXPECT_EQ(steps[5].us_per_connection, 2044);
    EXPECT_NEAR(bench::set_up_time(steps), 23 + 38 + 36 + 263 + 12 + 2044, 0.001);
}

TEST(Cmtime, what_is_no_table_has_no_steps) {
    EXPECT_TRUE(bench::parse_cmtime("event: RDMA_CM_EVENT_REJECTED, error: 8\n").empty());
}

}  // namespace

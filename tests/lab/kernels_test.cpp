// LAB_KERNEL in the lab: hosts with different kernels, in guests of their own.
#include <gtest/gtest.h>

#include "lab/lesson14_checks.hpp"
#include "support/lab.hpp"

namespace kernels_test {

using namespace std::chrono_literals;

class Kernels : public testing::Test {
  protected:
    static support::Argv environment(const std::string& kernels, const std::string& root = "/") {
        return {"LAB_STATE=build/lab-kernels", "LAB_RUNS=build/lab-kernels/runs",
                "LAB_KERNEL=" + kernels, "LAB_SYSROOT=" + root};
    }
    void SetUp() override {
        if (support::run({"bash", "-c", "command -v mmdebstrap"}).exit_code != 0)
            GTEST_SKIP() << "mmdebstrap is not installed";
    }
    void TearDown() override { support::run({"lab/lab", "down"}, environment("")); }
};

TEST_F(Kernels, of_two_series_speak_with_each_other) {
    const auto kernels = environment("6.12,client=7.3");
    // Fetches both the first time.
    const auto up = support::run({"lab/lab", "up"}, kernels, 20min);
    ASSERT_EQ(up.exit_code, 0) << up.all();
    for (const auto& [host, series] : {std::pair{"server", "6.12."}, {"client", "7.3"}}) {
        const auto uname = support::run({"lab/lab", "exec", host, "--", "uname", "-r"}, kernels);
        EXPECT_EQ(uname.out.rfind(series, 0), 0U) << uname.all();
    }
    const auto capture = support::run({"lab/lab", "capture", "01"}, kernels, 3min);
    EXPECT_EQ(capture.exit_code, 0) << capture.all();
    EXPECT_NE(capture.err.find("13 packets captured, 0 dropped"), std::string::npos)
        << capture.all();

    const auto again = support::run({"lab/lab", "up"}, kernels);
    EXPECT_NE(again.err.find("already up"), std::string::npos) << again.all();
    const auto other = support::run({"lab/lab", "run", "01"}, environment("6.1"));
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_NE(other.err.find("but LAB_KERNEL=6.1 is requested"), std::string::npos) << other.all();
}

// Lesson 14, part 5: Soft-RoCE has on-demand paging since Linux 6.16.
TEST_F(Kernels, of_6_18_has_on_demand_paging) {
    const auto kernel = environment("6.18");
    const auto up = support::run({"lab/lab", "up"}, kernel, 20min);
    ASSERT_EQ(up.exit_code, 0) << up.all();
    const auto outcome =
        support::run({"lab/lab", "exec", "client", "--", "build/examples/14_registration_cost/main",
                      "--odp", "--run-log", "-"},
                     kernel, 3min);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.all();
    lesson14_test::expect_on_demand_paging(lesson14_test::events_of(outcome));
}

// Lesson 13. Creates a root of Debian 13, and builds the programs in it, the first time.
TEST_F(Kernels, since_6_2_have_flush) {
    const auto debian_13 = environment("6.12", "trixie");
    const auto up = support::run({"lab/lab", "up"}, debian_13, 20min);
    ASSERT_EQ(up.exit_code, 0) << up.all();
    const auto capture =
        support::run({"lab/lab", "capture", "13", "--", "--flush"}, debian_13, 15min);
    ASSERT_EQ(capture.exit_code, 0) << capture.all();
    for (const char* line :
         {"RC ATOMIC WRITE", "RC FLUSH", "right with its headers counted twice",
          "ibv_reg_mr with FLUSH_PERSISTENT failed: EINVAL", "the stamp is written, and flushed"})
        EXPECT_NE(capture.out.find(line), std::string::npos) << line;
}

}  // namespace kernels_test

// LAB_KERNEL in the lab: hosts with different kernels, in guests of their own.
#include <algorithm>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "lab/lesson14_checks.hpp"
#include "support/lab.hpp"
#include "support/lesson24_checks.hpp"

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

// What `cluster` of lesson 24 could leave on its machine.
support::Outcome left(const support::Argv& kernel) {
    const std::string list = "ip netns list; rdma link; ip -o link | grep -e veth -e bridge -e l24";
    const std::string processes = "; ps ax | grep '[r]endezvous/'";
    return support::run({"lab/lab", "exec", "client", "--", "bash", "-c", list + processes},
                        kernel);
}

// Each rank is a program in a network namespace, with its own device.
TEST_F(Kernels, let_a_cluster_run_in_network_namespaces_of_one_host) {
    const auto kernel = environment("7.3");
    const auto up = support::run({"lab/lab", "up"}, kernel, 20min);
    ASSERT_EQ(up.exit_code, 0) << up.all();
    const auto before = left(kernel);
    const auto run = support::run(
        {"lab/lab", "exec", "client", "--", "examples/24_rendezvous/cluster", "--ranks", "4"},
        kernel, 5min);
    ASSERT_EQ(run.exit_code, 0) << run.all();
    EXPECT_EQ(left(kernel).out, before.out);
    EXPECT_NE(run.err.find("84 WRITEs are on the wire, 24 of them between ranks 1 to 3"),
              std::string::npos)
        << run.all();
    for (const char* rank : {"0", "1", "2", "3"})
        EXPECT_NE(run.out.find(std::string("good: rank ") + rank + " has the 32 sums of 4 ranks'"),
                  std::string::npos)
            << run.all();

    const std::string says = "everything of this run: ";
    const auto place = run.err.find(says);
    ASSERT_NE(place, std::string::npos) << run.all();
    std::string dir;
    std::istringstream(run.err.substr(place + says.size())) >> dir;
    std::vector<std::vector<runlog::Event>> logs;
    for (const char* role : {"server", "client", "client2", "client3"})
        logs.push_back(support::events_of(dir + '/' + role + ".jsonl"));
    support::expect_barriers_held(logs, 4, 8);

    // The ring's WRITEs of ranks 0 to 3, each to the next one, over the bridge.
    const auto lines = support::run({"build/rocecap", "decode", "--where", "bth.opcode == 11",
                                     "--fields", "ip.src,ip.dst", dir + "/wire.pcapng"});
    std::set<std::string> pairs;
    std::istringstream text(lines.out);
    for (std::string line; std::getline(text, line);)
        pairs.insert(line);
    for (const char* pair : {"198.51.100.1\t198.51.100.2", "198.51.100.2\t198.51.100.3",
                             "198.51.100.3\t198.51.100.4", "198.51.100.4\t198.51.100.1"})
        EXPECT_TRUE(pairs.contains(pair)) << lines.all();

    // rocecap reads the run like any other, and finds the verbs call of each packet.
    const auto timeline = support::run({"build/rocecap", "timeline", "--color=never", dir});
    EXPECT_EQ(timeline.exit_code, 0) << timeline.all();
    EXPECT_NE(timeline.out.find("client2 → client3  RC RDMA WRITE Only with Immediate"),
              std::string::npos)
        << timeline.out;

    // A signal in the middle of a run.
    support::Process running({"lab/lab", "exec", "client", "--", "bash", "-c",
                              "examples/24_rendezvous/cluster & read -r; kill -TERM $!; wait $!"},
                             kernel, support::Input::held_open);
    ASSERT_TRUE(running.await("rank 0 is ready", 1min));
    running.close_input();
    const auto stopped = running.wait(1min);
    EXPECT_EQ(stopped.exit_code, 143) << stopped.all();
    EXPECT_NE(stopped.err.find("interrupted"), std::string::npos) << stopped.all();
    EXPECT_EQ(left(kernel).out, before.out);
}

TEST_F(Kernels, without_soft_roce_in_namespaces_are_named_by_the_cluster) {
    const auto kernel = environment("6.1");
    const auto up = support::run({"lab/lab", "up"}, kernel, 20min);
    ASSERT_EQ(up.exit_code, 0) << up.all();
    const auto before = left(kernel);
    const auto run =
        support::run({"lab/lab", "exec", "client", "--", "examples/24_rendezvous/cluster"}, kernel);
    EXPECT_EQ(run.exit_code, 1) << run.all();
    EXPECT_NE(run.err.find("cluster: Soft-RoCE does not work in network namespaces with this "
                           "kernel, 6.1."),
              std::string::npos)
        << run.all();
    EXPECT_NE(run.err.find("LAB_KERNEL=7.3 lab/lab up"), std::string::npos) << run.all();
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.all();
    EXPECT_EQ(left(kernel).out, before.out);
}

}  // namespace kernels_test

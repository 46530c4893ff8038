// lab/lab netem: the kernel has the settings, the lab reports them in its status and in each run,
// they affect packets as documented, and `clear` removes them.
#include <regex>

#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace netem_test {

support::Outcome netem(const support::Argv& words) {
    support::Argv argv{"lab/lab", "netem"};
    argv.insert(argv.end(), words.begin(), words.end());
    return support::run(argv);
}

std::string qdisc_of(const std::string& host) {
    return support::exec(host, {"tc", "qdisc", "show", "dev", "eth0", "root"}).out;
}

class Netem : public testing::Test {
  protected:
    void SetUp() override {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
    void TearDown() override { EXPECT_EQ(netem({"clear"}).exit_code, 0); }
};

TEST_F(Netem, sets_both_machines_and_clears_them) {
    const auto set = netem({"loss", "1%", "delay", "2ms", "reorder", "25%"});
    EXPECT_EQ(set.exit_code, 0) << set.all();
    EXPECT_EQ(set.out,
              "server: netem on eth0: delay 2ms loss 1% reorder 25% gap 1\n"
              "client: netem on eth0: delay 2ms loss 1% reorder 25% gap 1\n");
    for (const char* host : {"server", "client"})
        EXPECT_TRUE(std::regex_search(qdisc_of(host), std::regex("netem .*delay 2ms loss 1%")))
            << qdisc_of(host);
    EXPECT_EQ(netem({}).out, set.out);
    const auto status = support::run({"lab/lab", "status"});
    EXPECT_NE(status.out.find("netem on eth0: delay 2ms loss 1% reorder 25% gap 1\n"),
              std::string::npos)
        << status.out;

    // New settings replace all previous ones.
    EXPECT_EQ(netem({"delay", "1ms"}).out,
              "server: netem on eth0: delay 1ms\nclient: netem on eth0: delay 1ms\n");
    const auto run = support::read_run(support::run({"lab/lab", "run", "01"}));
    EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_EQ(run.info["hosts"]["client"].value("netem", ""), "delay 1ms");

    for (int time = 0; time < 2; ++time) {
        EXPECT_EQ(netem({"clear"}).out,
                  "server: netem on eth0: none\n"
                  "client: netem on eth0: none\n");
        for (const char* host : {"server", "client"})
            EXPECT_EQ(qdisc_of(host).find("netem"), std::string::npos) << qdisc_of(host);
    }
}

TEST_F(Netem, of_one_machine_leaves_the_other_as_it_is) {
    EXPECT_EQ(netem({"client", "loss", "100%"}).out, "client: netem on eth0: loss 100%\n");
    EXPECT_EQ(netem({"server"}).out, "server: netem on eth0: none\n");
    const auto lost = support::exec("client", {"ping", "-c", "1", "-W", "1", support::server_ip});
    EXPECT_NE(lost.out.find("100% packet loss"), std::string::npos) << lost.all();
    EXPECT_EQ(netem({"client", "clear"}).exit_code, 0);
    const auto back = support::exec("client", {"ping", "-c", "1", "-W", "9", support::server_ip});
    EXPECT_EQ(back.exit_code, 0) << back.all();
}

TEST_F(Netem, make_sets_and_clears_it_too) {
    const auto set = support::run({"make", "-s", "lab-netem", "LOSS=1%", "HOST=server"});
    EXPECT_EQ(set.out, "server: netem on eth0: loss 1%\n") << set.all();
    const auto cleared = support::run({"make", "-s", "lab-netem-clear"});
    EXPECT_EQ(cleared.exit_code, 0) << cleared.all();
    EXPECT_EQ(netem({"server"}).out, "server: netem on eth0: none\n");
}

}  // namespace netem_test

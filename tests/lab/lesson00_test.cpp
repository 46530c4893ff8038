// Lesson 00 in the lab: one WRITE, and a server that sees its data without having received anything.
#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace lesson00_test {

using support::LabRun;

class Lesson00 : public testing::TestWithParam<const char*> {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_P(Lesson00, the_server_finds_what_the_client_wrote_and_received_nothing) {
    const LabRun run = support::capture("00", {GetParam()});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_EQ(support::rows_once(run, "bth.opcode_name", "reth"),
              support::Rows{{"RC RDMA WRITE Only"}});
    const auto notes = support::notes(run.server, "my memory has: ");
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_NE(notes[0].find("(nothing yet)"), std::string::npos) << notes[0];
    EXPECT_NE(notes[1].find("Hello, RDMA!"), std::string::npos) << notes[1];
    EXPECT_TRUE(LabRun::all(run.server, "post_recv").empty());
    EXPECT_TRUE(LabRun::all(run.server, "wc").empty());
    EXPECT_EQ(support::statuses(run.client), std::vector<std::string>{"SUCCESS"});
    support::expect_every_packet_joined(run);
    support::expect_nothing_lost_and_all_understood(run);
}

INSTANTIATE_TEST_SUITE_P(Families, Lesson00, testing::Values("LAB_FAMILY=ipv4", "LAB_FAMILY=ipv6"),
                         [](const auto& test) { return std::string(test.param).substr(11); });

TEST(Lesson00Client, without_a_server_prints_one_sentence) {
    ASSERT_EQ(support::bring_up(), std::nullopt);
    const auto outcome = support::exec("client", {"build/examples/00_hello/hello", "192.0.2.1"});
    support::expect_one_sentence(outcome, 1, "rdma_connect: Connection refused");
}

}  // namespace lesson00_test

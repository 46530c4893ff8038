// Lesson 15 in the lab: one message from three buffers, one READ into two, and a refused `sge`.
#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace lesson15_test {

using support::LabRun;
using support::rows_once;

class Lesson15 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_F(Lesson15, three_buffers_are_one_message_and_a_foreign_lkey_sends_nothing) {
    const LabRun& run = support::plain_run("15");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto sends = rows_once(run, "payload_len", "bth.opcode_name contains SEND");
    ASSERT_EQ(sends.size(), 1U) << "the refused request is no packet";
    EXPECT_EQ(sends[0][0], "3116");
    EXPECT_EQ(rows_once(run, "bth.psn", "bth.opcode == 12").size(), 1U);
    const auto memory = LabRun::all(run.server, "memory");
    ASSERT_EQ(memory.size(), 2U);
    EXPECT_EQ(memory[0].number("len"), 16U);
    EXPECT_EQ(memory[1].number("len"), 3100U);
    const auto statuses = support::statuses(run.client);
    ASSERT_EQ(statuses.size(), 3U);
    EXPECT_EQ(statuses[0], "SUCCESS");
    EXPECT_EQ(statuses[1], "SUCCESS");
    // The status according to the specification, from rxe in Linux 6.1, and from rxe in Linux 6.12.
    EXPECT_TRUE(statuses[2] == "LOC_PROT_ERR" || statuses[2] == "LOC_QP_OP_ERR" ||
                statuses[2] == "WR_FLUSH_ERR")
        << statuses[2];
    support::expect_every_packet_joined(run);
}

TEST_F(Lesson15, parts_of_any_length_arrive_whole) {
    const LabRun run = support::capture("15", {}, {"--first", "1", "--second", "9999"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto sends = rows_once(run, "payload_len", "bth.opcode_name contains SEND");
    EXPECT_EQ(sends.size(), 3U) << "First, Middle, Last";
    support::expect_every_packet_joined(run);
}

}  // namespace lesson15_test

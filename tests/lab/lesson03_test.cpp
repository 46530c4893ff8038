// Lesson 03 in the lab: which WRITEs carry immediate data, and that only these create completions at
// the server.
#include <set>

#include <gtest/gtest.h>

#include "examples/common/memory.hpp"
#include "support/step_checks.hpp"

namespace lesson03_test {

using support::LabRun;
using support::rows;
using support::rows_once;

class Lesson03 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_F(Lesson03, immediate_data_wakes_the_server_and_a_plain_write_does_not) {
    const LabRun& run = support::plain_run("03");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();

    // One WRITE without and three with immediate data, which only the last packet of a message
    // carries.
    EXPECT_EQ(rows_once(run, "bth.opcode_name,immdt", "immdt"),
              (support::Rows{{"RC RDMA WRITE Last with Immediate", "0x00000001"},
                             {"RC RDMA WRITE Last with Immediate", "0x00000002"},
                             {"RC RDMA WRITE Last with Immediate", "0x00000003"}}));
    EXPECT_EQ(rows_once(run, "bth.psn", "bth.opcode_name == \"RC RDMA WRITE Last\"").size(), 1U);
    EXPECT_EQ(rows_once(run, "bth.psn", "bth.opcode_name == \"RC RDMA WRITE First\"").size(), 4U);

    // The server's completions, with the slot numbers, and its memory at each completion.
    std::vector<std::uint64_t> slots;
    for (const auto& completion : LabRun::all(run.server, "wc"))
        if (completion.text("status") == "SUCCESS") {
            EXPECT_EQ(completion.text("opcode"), "RECV_RDMA_WITH_IMM");
            EXPECT_EQ(completion.number("byte_len"), 10'000U);
            slots.push_back(completion.number("imm").value_or(0));
        }
    EXPECT_EQ(slots, (std::vector<std::uint64_t>{1, 2, 3}));
    const auto looks = support::notes(run.server, "slot ");
    ASSERT_EQ(looks.size(), 3U);
    for (const auto& look : looks)
        EXPECT_TRUE(look.find(": 10000 of 10000 B in use, ") != std::string::npos &&
                    look.find("\"Wake up. ") != std::string::npos)
            << look;
    EXPECT_EQ(LabRun::all(run.client, "wc").size(), 4U);

    support::expect_every_packet_joined(run);
    support::expect_nothing_lost_and_all_understood(run);
}

TEST_F(Lesson03, more_notifications_than_receives_were_posted_at_once) {
    const LabRun run = support::capture("03", {}, {"--count", "20", "--length", "1"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    // Count each request once: a slow machine may retransmit one.
    const auto psns =
        rows(run, "bth.psn", "bth.opcode_name == \"RC RDMA WRITE Only with Immediate\"");
    EXPECT_EQ(std::set(psns.begin(), psns.end()).size(), 20U);
    EXPECT_EQ(support::notes(run.server, "slot ").size(), 20U);
    support::expect_every_packet_joined(run);
}

}  // namespace lesson03_test

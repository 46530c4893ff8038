// Lesson 12 in the lab: messages are applied exactly once over connections that break.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace lesson12_test {

using support::LabRun;

class Lesson12 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

bool has_note(const std::vector<runlog::Event>& log, const std::string& text) {
    return std::ranges::any_of(
        log, [&](const auto& event) { return event.name == "note" && event.text("text") == text; });
}

TEST_F(Lesson12, twenty_messages_over_three_connections_are_applied_once_each) {
    const LabRun& run = support::plain_run("12");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_TRUE(has_note(run.client, "20 messages over 3 connections"));
    EXPECT_TRUE(has_note(run.server, "breaks the connection: 7 messages applied, sum 28"));
    EXPECT_TRUE(has_note(run.server, "breaks the connection: 14 messages applied, sum 105"));
    EXPECT_TRUE(has_note(run.server, "20 messages applied, sum 210"));
    const auto statuses = support::statuses(run.client);
    EXPECT_EQ(std::ranges::count(statuses, "RETRY_EXC_ERR"), 2);
    EXPECT_EQ(LabRun::ready_to_send(run.client).size(), 3U);
    support::expect_every_packet_joined(run);
}

TEST_F(Lesson12, a_connection_for_each_message_still_applies_each_once) {
    const LabRun run =
        support::capture("12", {"LAB_SERVER_ARGS=--break-after 1"}, {"--messages", "4"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_TRUE(has_note(run.server, "4 messages applied, sum 10"));
}

}  // namespace lesson12_test

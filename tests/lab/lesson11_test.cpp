// Lesson 11 in the lab: one event for four messages, and both ways to post requests in one queue.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace lesson11_test {

using support::LabRun;
using support::rows_once;

class Lesson11 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_F(Lesson11, a_solicited_message_wakes_the_server_once_for_all_before_it) {
    const LabRun& run = support::plain_run("11");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto sends = rows_once(run, "bth.se", "bth.opcode_name contains SEND");
    ASSERT_EQ(sends.size(), 8U);
    for (std::size_t i = 0; i < sends.size(); ++i)
        EXPECT_EQ(sends[i][0], i == 3 ? "1" : "0") << i;
    // One event for the first four messages, as the server's notes report, and one for each other
    // message.
    EXPECT_EQ(LabRun::all(run.server, "cq_event").size(), 5U);
    const auto notes = LabRun::all(run.server, "note");
    const auto has_note = [&](const std::string& text) {
        return std::ranges::any_of(notes,
                                   [&](const auto& note) { return note.text("text") == text; });
    };
    EXPECT_TRUE(has_note("1 event, 4 messages: solicited events only"));
    EXPECT_TRUE(has_note("4 events, 4 messages: all events"));
    // Requests posted by ibv_wr_* are traced, predicted and assigned like those posted by
    // ibv_post_send.
    EXPECT_EQ(LabRun::all(run.client, "post_send").size(), 8U);
    support::expect_every_packet_joined(run);
}

}  // namespace lesson11_test

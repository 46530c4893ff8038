// Lesson 02 in the lab: RNR NAKs, the retransmissions by the requester's device, and the completions.
#include <gtest/gtest.h>

#include "support/step_checks.hpp"
#include "wire/psn.hpp"

namespace lesson02_test {

using support::LabRun;
using support::rows;

class Lesson02 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_F(Lesson02, a_receiver_that_is_late_is_waited_for) {
    // Longer than a busy machine needs to send.
    const LabRun run = support::capture("02", {"LAB_SERVER_ARGS=--late 300"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto posts = LabRun::all(run.client, "post_send");
    ASSERT_EQ(posts.size(), 2U);
    // Each RNR NAK has its SEND's PSN and the RNR NAK timer: code 14, 1.28 ms. A SEND is sent once more
    // than it was refused. The second is refused, too, if the server has posted only its first receive.
    const auto first = static_cast<std::uint32_t>(posts[0].number("psn_first").value());
    for (const std::uint32_t psn : {first, wire::Psn(first + 1).value()}) {
        const std::string is_psn = " and bth.psn == " + std::to_string(psn);
        const auto timers = rows(run, "aeth.timer_ms", "aeth.type == \"RNR NAK\"" + is_psn);
        EXPECT_TRUE(psn != first || !timers.empty());
        for (const auto& timer : timers)
            EXPECT_EQ(timer, std::vector<std::string>{"1.28"});
        EXPECT_EQ(rows(run, "bth.psn", "bth.opcode_name == \"RC SEND Only\"" + is_psn).size(),
                  timers.size() + 1);
    }
    EXPECT_EQ(rows(run, "bth.psn", "aeth.type == \"RNR NAK\"").size() + 2,
              rows(run, "bth.psn", "bth.opcode_name == \"RC SEND Only\"").size());

    // The client has one completion for each SEND, and the server receives each message once.
    EXPECT_EQ(support::statuses(run.client), (std::vector<std::string>{"SUCCESS", "SUCCESS"}));
    EXPECT_EQ(support::notes(run.server, "a message: ").size(), 2U);
    support::expect_every_packet_joined(run);
    support::expect_nothing_lost_and_all_understood(run);
}

TEST_F(Lesson02, retries_that_end_are_an_error_in_a_sentence) {
    const LabRun run =
        support::capture("02", {"LAB_SERVER_ARGS=--late 300"}, {"--rnr-retries", "0"});
    EXPECT_EQ(run.outcome.exit_code, 1);
    EXPECT_EQ(support::statuses(run.client), std::vector<std::string>{"RNR_RETRY_EXC_ERR"});
    const auto* error = LabRun::find(run.client, "error");
    ASSERT_NE(error, nullptr) << run.outcome.all();
    EXPECT_NE(error->text("text").find("the server had no receive posted"), std::string::npos);
    EXPECT_EQ(rows(run, "bth.psn", "aeth.type == \"RNR NAK\"").size(), 1U);
}

}  // namespace lesson02_test

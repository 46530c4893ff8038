// Lesson 04 in the lab: each refused request causes a NAK, a completion with an error, and the state
// ERR.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace lesson04_test {

using support::LabRun;
using support::rows;
using support::rows_once;

TEST(Lesson04, each_refusal_is_a_nak_an_error_completion_and_a_broken_queue_pair) {
    const auto problem = support::bring_up();
    ASSERT_FALSE(problem) << *problem;
    const LabRun& run = support::plain_run("04");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();

    const std::vector<std::string> refused{"Remote Access Error"};
    EXPECT_EQ(rows(run, "aeth.error", "aeth.type == NAK"),
              (support::Rows{refused, refused, refused, refused}));
    EXPECT_EQ(support::statuses(run.client),
              (std::vector<std::string>{"REM_ACCESS_ERR", "WR_FLUSH_ERR", "REM_ACCESS_ERR",
                                        "WR_FLUSH_ERR", "REM_ACCESS_ERR", "WR_FLUSH_ERR",
                                        "REM_ACCESS_ERR", "WR_FLUSH_ERR"}));
    // The flushed WRITEs were not sent.
    EXPECT_EQ(rows_once(run, "bth.psn", "bth.opcode_name == \"RC RDMA WRITE Only\"").size(), 4U);

    // The refusal caused the state ERR, not the disconnect: ERR precedes the second WRITE.
    std::vector<std::string> order;
    for (const auto& event : run.client)
        if (event.name == "post_send")
            order.emplace_back("post_send");
        else if (event.name == "qp_state" &&
                 (event.text("state") == "RTS" ||
                  (event.text("state") == "ERR" && !event.number("sq_psn"))))
            order.emplace_back(event.text("state"));  // without PSNs: a query by the client
    std::vector<std::string> expected;
    for (int i = 0; i < 4; ++i)
        for (const char* what : {"RTS", "post_send", "ERR", "post_send"})
            expected.emplace_back(what);
    EXPECT_EQ(order, expected);
    const auto memories = LabRun::all(run.server, "memory");
    ASSERT_EQ(memories.size(), 4U);
    for (const auto& memory : memories)
        EXPECT_EQ(memory.number("used"), 0U);
    support::expect_nothing_lost_and_all_understood(run);
}

}  // namespace lesson04_test

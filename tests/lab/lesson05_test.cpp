// Lesson 05 in the lab: which state transitions the kernel's Soft-RoCE allows, and which requests
// complete in each state.
#include <algorithm>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace lesson05_test {

TEST(Lesson05, every_transition_is_allowed_or_refused_as_the_specification_says) {
    const auto problem = support::bring_up();
    ASSERT_FALSE(problem) << *problem;
    const auto outcome =
        support::exec("client", {"build/examples/05_qp_states/main", "--run-log", "-"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.all();

    std::vector<runlog::Event> log;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        if (auto event = runlog::from_json(line))
            log.push_back(std::move(*event));

    std::set<std::string> done, refused;
    for (const auto& event : support::LabRun::all(log, "transition")) {
        const std::string change =
            std::string(event.text("from")) + " " + std::string(event.text("to"));
        if (event.text("result") == "done")
            done.insert(change);
        else if (event.text("result") == "EINVAL")
            refused.insert(change + (change == "INIT RTR" ? " without an address" : ""));
    }
    EXPECT_EQ(done, (std::set<std::string>{"RESET INIT", "INIT INIT", "INIT RTR", "RTR RTS",
                                           "RTS RTS", "RTS SQD", "SQD SQD", "SQD RTS", "RTS ERR",
                                           "ERR RESET", "RTR RESET"}));
    EXPECT_EQ(refused,
              (std::set<std::string>{"RESET RTR", "RESET RTS", "RESET ERR", "INIT RTS",
                                     "INIT RTR without an address", "RTS INIT", "ERR RTS"}));

    std::set<std::string> states;
    for (const auto& event : support::LabRun::all(log, "qp_attr"))
        states.emplace(event.text("state"));
    EXPECT_EQ(states, (std::set<std::string>{"RESET", "INIT", "RTR", "RTS", "SQD", "ERR"}));
    EXPECT_EQ(std::ranges::count(support::statuses(log), "WR_FLUSH_ERR"), 2);
    EXPECT_EQ(std::ranges::count(support::statuses(log), "SUCCESS"), 8);
}

}  // namespace lesson05_test

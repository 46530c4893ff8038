// lab/host/supervise: a command ends by itself, at its limit, or with the leash.
#include <gtest/gtest.h>

#include "support/process.hpp"

namespace supervise_test {

using namespace std::chrono_literals;

support::Argv supervised(const std::string& seconds, const std::string& command) {
    return {"lab/host/supervise", seconds, "bash", "-c", command};
}

TEST(Supervise, passes_on_how_a_command_ended) {
    support::Process process(supervised("0", "exit 3"), {}, support::Input::held_open);
    EXPECT_EQ(process.wait(10s).exit_code, 3);
}

TEST(Supervise, ends_a_command_at_its_limit_and_tells_so) {
    support::Process process(supervised("1", "exec sleep 60"), {}, support::Input::held_open);
    const auto outcome = process.wait(10s);
    EXPECT_EQ(outcome.exit_code, 124);
    EXPECT_EQ(outcome.err, "stopped: 1 s have passed\n");
}

TEST(Supervise, ends_a_command_whose_leash_is_let_go) {
    support::Process process(supervised("0", "echo started; exec sleep 60"), {},
                             support::Input::held_open);
    ASSERT_TRUE(process.await("started", 10s));
    process.close_input();
    EXPECT_EQ(process.wait(4s).exit_code, 128 + SIGTERM);
}

TEST(Supervise, kills_a_command_that_goes_on_for_five_seconds) {
    support::Process process(
        supervised("0", "trap '' TERM; echo started; while :; do sleep 0.1; done"), {},
        support::Input::held_open);
    ASSERT_TRUE(process.await("started", 10s));
    process.close_input();
    const auto outcome = process.wait(20s);
    EXPECT_EQ(outcome.exit_code, 128 + SIGKILL);
    EXPECT_GE(outcome.took, 5s);
}

}  // namespace supervise_test

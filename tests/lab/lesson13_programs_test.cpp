// Lesson 13's programs in the lab: successive and concurrent clients, a signal, a server that was
// killed, and invalid options.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace lesson13_programs_test {

using std::chrono::seconds;

const std::string client = "build/examples/13_atomics/client";
const std::string server = "build/examples/13_atomics/server";

class Lesson13Programs : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_F(Lesson13Programs, the_words_begin_at_zero_for_whoever_comes_next_and_a_stranger_is_noticed) {
    support::Process serving = support::start("server", {server, "--port", "4251"});
    ASSERT_TRUE(serving.await("listening on", seconds(20)));
    for (const char* address : {"192.0.2.1", "2001:db8::1"}) {
        const auto outcome = support::exec("client", {client, address, "--port", "4251"});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    }
    // A client increments the counter while another client starts.
    support::Process counting = support::start(
        "client", {client, "192.0.2.1", "--port", "4251", "--clients", "1", "--adds", "1000000"});
    ASSERT_TRUE(counting.await("found 3", seconds(20)));
    const auto second = support::exec("client", {client, "192.0.2.1", "--port", "4251"});
    EXPECT_EQ(second.exit_code, 1);
    EXPECT_NE(second.err.find("does another client use the counter, too?"), std::string::npos)
        << second.err;
    counting.close_input();
    const auto stopped = counting.wait(seconds(20));
    EXPECT_EQ(stopped.exit_code, 1);
    EXPECT_NE(stopped.err.find("client: stopped by a signal."), std::string::npos) << stopped.err;
    serving.close_input();
    const auto outcome = serving.wait(seconds(20));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::size_t ends = 0;
    for (auto at = outcome.out.find("counter 16, maximum 8"); at != std::string::npos;
         at = outcome.out.find("counter 16, maximum 8", at + 1))
        ++ends;
    EXPECT_EQ(ends, 2U) << outcome.out;
}

TEST_F(Lesson13Programs, a_server_that_is_killed_is_an_error_in_time) {
    support::Process serving = support::start(
        "server", {"bash", "-c", "echo $$ >/tmp/lesson13.pid; exec " + server + " --port 4252"});
    ASSERT_TRUE(serving.await("listening on", seconds(20)));
    support::Process counting = support::start(
        "client", {client, "192.0.2.1", "--port", "4252", "--timeout", "3", "--adds", "1000000"});
    ASSERT_TRUE(counting.await("found 3", seconds(20)));
    support::exec("server", {"bash", "-c", "kill -KILL $(</tmp/lesson13.pid)"});
    const auto outcome = counting.wait(seconds(20));
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("client: ATOMIC_FETCH_AND_ADD "), std::string::npos) << outcome.err;
}

}  // namespace lesson13_programs_test

// Error cases of lesson 25's programs: numbers out of range, invalid batches, and an end that dies
// during a batch.
#include <gtest/gtest.h>

#include "support/lossy_host.hpp"

namespace lesson25_programs_test {

using namespace std::chrono_literals;
using support::Argv;

const std::string server_program = "build/examples/25_inference_batching/server";
const std::string client_program = "build/examples/25_inference_batching/client";

Argv client(const Argv& more) {
    Argv argv{client_program, support::server_ip, "--port", "4318"};
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
}

bool says(const std::string& text, const std::string& sentence) {
    return text.find(sentence) != std::string::npos;
}

class Lesson25Programs : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
    static support::Process serve(const std::string& launch_us) {
        return support::start("server",
                              {server_program, "--port", "4318", "--launch-us", launch_us});
    }
};

TEST_F(Lesson25Programs, a_batch_that_is_not_as_it_should_be_ends_its_connection_alone) {
    auto server = serve("0");
    ASSERT_TRUE(server.await("listening", 60s));
    for (const char* wrong : {"id", "count", "length"}) {
        const auto refused = support::exec("client", client({"--wrong", wrong}));
        EXPECT_EQ(refused.exit_code, 1) << refused.all();
        EXPECT_TRUE(says(refused.err, "client: the server has ended the connection with "))
            << refused.all();
    }
    const auto good = support::exec("client", client({}));
    EXPECT_EQ(good.exit_code, 0) << good.all();
    server.close_input();
    const auto end = server.wait(30s);
    for (const char* sentence :
         {"server: client 1: a notification of batch 1000, but batch 0 is expected. Its connection "
          "ends.",
          "server: client 2: batch 0 claims 9 requests, but a slot has room for 1 to 8.",
          "server: client 3: the notification of batch 0 has 4 B, but a header has 8 B."})
        EXPECT_TRUE(says(end.err, sentence)) << end.all();
}

TEST_F(Lesson25Programs, a_server_that_goes_in_the_middle_of_a_batch_is_named_at_once) {
    auto server = serve("20000000");
    ASSERT_TRUE(server.await("listening", 60s));
    auto waiting = support::start("client", client({"--timeout", "30"}));
    ASSERT_TRUE(waiting.await("RDMA_WRITE_WITH_IMM", 60s));
    server.close_input();
    const auto told = waiting.wait(20s);
    EXPECT_EQ(told.exit_code, 1) << told.all();
    EXPECT_TRUE(says(told.err,
                     "client: the server has ended the connection with 2 batches outstanding: its "
                     "log gives the reason if it still runs."))
        << told.all();
}

TEST_F(Lesson25Programs, a_server_that_says_nothing_is_not_waited_for_without_end) {
    auto server = serve("20000000");
    ASSERT_TRUE(server.await("listening", 60s));
    const auto silence = support::exec("client", client({"--timeout", "2"}));
    EXPECT_EQ(silence.exit_code, 1) << silence.all();
    EXPECT_TRUE(says(silence.err,
                     "client: no result for client 1 in 2.0 s, with 2 batches outstanding: the "
                     "server does not respond. Is it still running?"))
        << silence.all();
    EXPECT_LT(silence.took, 15s);
}

TEST_F(Lesson25Programs, a_client_that_goes_in_the_middle_of_a_batch_leaves_the_others_served) {
    auto server = serve("6000000");
    ASSERT_TRUE(server.await("listening", 60s));
    auto leaving = support::start("client", client({"--timeout", "30"}));
    ASSERT_TRUE(leaving.await("RDMA_WRITE_WITH_IMM", 60s));
    leaving.close_input();
    EXPECT_NE(leaving.wait(30s).exit_code, 0);
    // Either the connection ends first, or the client does not accept a result any more.
    ASSERT_TRUE(server.await("server: client 1", 40s)) << server.output();
    const auto next = support::exec("client", client({"--requests", "8", "--timeout", "30"}));
    EXPECT_EQ(next.exit_code, 0) << next.all();
    server.close_input();
    const auto end = server.wait(30s);
    EXPECT_FALSE(says(end.err, "client 2")) << end.all();
}

TEST_F(Lesson25Programs, a_client_whose_link_is_cut_is_not_waited_for_without_end) {
    auto server = serve("2000000");
    ASSERT_TRUE(server.await("listening", 60s));
    auto cut_off = support::start("client", client({"--timeout", "60"}));
    ASSERT_TRUE(cut_off.await("RDMA_WRITE_WITH_IMM", 60s));
    {
        const support::LossyHost cut("client", "100%");
        EXPECT_TRUE(
            server.await("server: client 1: it has acknowledged nothing for 10 s. Its "
                         "connection ends.",
                         60s));
    }
    EXPECT_EQ(cut_off.wait(90s).exit_code, 1);
    const auto next = support::exec("client", client({"--requests", "8", "--timeout", "20"}));
    EXPECT_EQ(next.exit_code, 0) << next.all();
}

TEST_F(Lesson25Programs, a_run_whose_clients_do_not_all_come_does_not_begin) {
    auto server = serve("0");
    ASSERT_TRUE(server.await("listening", 60s));
    const auto alone = support::exec("client", client({"--clients", "2", "--timeout", "0.5"}));
    EXPECT_EQ(alone.exit_code, 1) << alone.all();
    EXPECT_TRUE(says(alone.err,
                     "client: client 1 has waited 3.0 s for the server's start message: "
                     "is one of the 2 clients missing?"))
        << alone.all();

    auto first = support::start("client", client({"--clients", "2", "--requests", "8"}));
    ASSERT_TRUE(first.await("RTS", 60s));
    const auto second = support::exec("client", client({"--clients", "2", "--requests", "8"}));
    EXPECT_EQ(second.exit_code, 0) << second.all();
    EXPECT_EQ(first.wait(30s).exit_code, 0);
}

}  // namespace lesson25_programs_test

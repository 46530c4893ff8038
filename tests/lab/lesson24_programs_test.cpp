// Lesson 24's programs in the lab: ranks that do not connect, are invalid or duplicated, hang or die.
#include <gtest/gtest.h>

#include "support/lesson24_checks.hpp"
#include "support/step_checks.hpp"

namespace lesson24_programs_test {

using namespace std::chrono_literals;

constexpr const char* server_program = "build/examples/24_rendezvous/server";
constexpr const char* client_program = "build/examples/24_rendezvous/client";
const std::string port = "4317";

class Lesson24Programs : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }

    static support::Process start_server(const support::Argv& more = {}) {
        support::Argv argv{server_program, "--port", port};
        argv.insert(argv.end(), more.begin(), more.end());
        return support::start("server", argv);
    }
    static support::Argv ranks(const support::Argv& more) {
        support::Argv argv{client_program, support::server_ip, "--port", port};
        argv.insert(argv.end(), more.begin(), more.end());
        return argv;
    }
};

TEST_F(Lesson24Programs, ranks_that_never_come_are_named_and_the_others_are_told) {
    auto server = start_server({"--time-limit", "4"});
    ASSERT_TRUE(server.await("listening", 60s));
    auto first = support::start("client", ranks({"--rank", "1"}));
    ASSERT_TRUE(first.await("rank 1 of 4", 60s));
    const auto told = first.wait(30s);
    support::expect_one_sentence(told, 1,
                                 "client: rank 1: rank 0 ends the rendezvous: rank 0 has waited 4 "
                                 "s for ranks 2, 3 to join.");

    // The next ranks are served.
    const auto next = support::exec("client", ranks({"--barriers", "1"}));
    EXPECT_EQ(next.exit_code, 0) << next.all();
    server.close_input();
    const auto end = server.wait(30s);
    EXPECT_EQ(end.exit_code, 0) << end.all();
    EXPECT_NE(end.err.find("server: rank 0 has waited 4 s for ranks 2, 3 to join.\n"),
              std::string::npos)
        << end.all();
}

TEST_F(Lesson24Programs, who_claims_what_is_not_to_be_had_hears_why_and_troubles_nobody) {
    auto server = start_server({"--time-limit", "60"});
    ASSERT_TRUE(server.await("listening", 60s));
    auto first = support::start("client", ranks({"--rank", "1", "--ranks", "3"}));
    ASSERT_TRUE(first.await("rank 1 of 3", 60s));
    for (const auto& [wrong, says] :
         {std::pair<support::Argv, const char*>{{"--rank", "1", "--ranks", "3"},
                                                "rank 1 has already joined."},
          {{"--rank", "3", "--ranks", "3"}, "rank 3 is not in the range 1 to 2."},
          {{"--rank", "2", "--ranks", "4"}, "this rendezvous has 3 ranks"}}) {
        const auto refused = support::exec("client", ranks(wrong));
        support::expect_one_sentence(refused, 1, says);
        EXPECT_NE(refused.err.find("failed: the program refused it: "), std::string::npos);
    }
    const auto second = support::exec("client", ranks({"--rank", "2", "--ranks", "3"}));
    EXPECT_EQ(second.exit_code, 0) << second.all();
    const auto done = first.wait(30s);
    EXPECT_EQ(done.exit_code, 0) << done.all();
    server.close_input();
    EXPECT_EQ(server.wait(30s).exit_code, 0);
}

TEST_F(Lesson24Programs, a_rank_that_dies_in_the_middle_is_named_to_all_others) {
    auto server = start_server();
    ASSERT_TRUE(server.await("listening", 60s));
    const support::Argv share{"--ranks", "3", "--barriers", "100", "--late", "9", "--rank"};
    const auto rank = [&](const char* number) {
        support::Argv more = share;
        more.emplace_back(number);
        return support::start("client", ranks(more));
    };
    auto first = rank("1");
    auto second = rank("2");
    ASSERT_TRUE(server.await("record    rank 2", 60s));
    const auto pid = support::pid_of_rank(server.output(), 2);
    ASSERT_TRUE(second.await("leaves barrier central 3 ", 60s));
    EXPECT_EQ(support::exec("client", {"kill", "-9", pid}).exit_code, 0);
    support::expect_one_sentence(
        first.wait(30s), 1,
        "client: rank 1: rank 0 ends the rendezvous: rank 2 disconnected before the end.");
    server.close_input();
    const auto end = server.wait(30s);
    EXPECT_EQ(end.exit_code, 0) << end.all();
    EXPECT_NE(end.err.find("server: rank 2 disconnected before the end.\n"), std::string::npos)
        << end.all();
}

// The rank is stopped with SIGSTOP: its connection remains, and its device still sends ACKs.
TEST_F(Lesson24Programs, a_rank_that_hangs_is_named_to_all_others) {
    auto server = start_server({"--time-limit", "4"});
    ASSERT_TRUE(server.await("listening", 60s));
    const support::Argv share{"--ranks", "3", "--barriers", "100", "--late", "9", "--rank"};
    support::Argv one = share, two = share;
    one.emplace_back("1");
    two.emplace_back("2");
    auto first = support::start("client", ranks(one));
    auto second = support::start("client", ranks(two));
    ASSERT_TRUE(server.await("record    rank 2", 60s));
    const auto pid = support::pid_of_rank(server.output(), 2);
    ASSERT_TRUE(second.await("leaves barrier central 3 ", 60s));
    EXPECT_EQ(support::exec("client", {"kill", "-STOP", pid}).exit_code, 0);
    support::expect_one_sentence(first.wait(30s), 1,
                                 "client: rank 1: rank 0 ends the rendezvous: rank 0 has waited 4 "
                                 "s for rank 2 at barrier ");
    EXPECT_EQ(support::exec("client", {"kill", "-CONT", pid}).exit_code, 0);
    support::expect_one_sentence(second.wait(30s), 1, "client: rank 2: rank 0 ");
}

TEST_F(Lesson24Programs, rank_0_that_dies_is_named_by_all) {
    auto server = start_server();
    ASSERT_TRUE(server.await("listening", 60s));
    auto client = support::start("client", ranks({"--ranks", "3", "--barriers", "100"}));
    ASSERT_TRUE(client.await("leaves barrier central 3 ", 60s));
    ASSERT_TRUE(server.await("record    rank 2", 60s));
    const auto pid = support::pid_of_rank(server.output(), 0);
    EXPECT_EQ(support::exec("server", {"kill", "-9", pid}).exit_code, 0);
    const auto end = client.wait(30s);
    support::expect_one_sentence(end, 1, "client: rank 1: rank 0 has ended the connection.");
    EXPECT_NE(end.out.find("rank 2: rank 0 has ended"), std::string::npos) << end.all();
}

}  // namespace lesson24_programs_test

// Wrong input of new users, on the lab's real machines: one line that gives the cause, an exit
// code, and an end within the time that the lesson documents.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace bad_input_test {

using namespace std::chrono_literals;

const std::string client01 = "build/examples/01_cm_write_read/client";
const std::string server01 = "build/examples/01_cm_write_read/server";
// Also with rdma_cm, and with all options of later lessons.
const std::string client04 = "build/examples/04_access_denied/client";
const std::string server04 = "build/examples/04_access_denied/server";
const std::string client06 = "build/examples/06_verbs_tcp_exchange/client";
const std::string server06 = "build/examples/06_verbs_tcp_exchange/server";

struct Case {
    const char* name;
    support::Argv command;
    int exit_code;
    const char* says;
    std::chrono::milliseconds within;  // in addition to the time to start the program
    int lines = 1;
};

class BadInput : public testing::TestWithParam<Case> {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_P(BadInput, is_one_sentence_and_an_exit_code_in_time) {
    const Case& wrong = GetParam();
    const auto start = support::exec("client", {wrong.command[0], "--help"}).took;
    const auto outcome = support::exec("client", wrong.command);
    EXPECT_EQ(outcome.exit_code, wrong.exit_code) << outcome.all();
    EXPECT_NE(outcome.err.find(wrong.says), std::string::npos) << outcome.all();
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), wrong.lines) << outcome.all();
    // The shell scripts start up to five programs.
    EXPECT_LT(outcome.took, 5 * start + wrong.within);
}

// The time limits: that of the program, plus up to 3 seconds for an emulated machine. They do not include the
// time to start the program, which is measured with --help.
INSTANTIATE_TEST_SUITE_P(
    Lessons01And04, BadInput,
    testing::Values(
        Case{"unknown_host",
             {client01, "no-such-host.invalid"},
             1,
             "cannot resolve 'no-such-host.invalid'",
             8s},
        Case{"nothing_listens", {client01, "192.0.2.1"}, 1, "No program listens on this port", 3s},
        Case{"no_such_neighbour", {client01, "192.0.2.77"}, 1, "192.0.2.77", 5s},
        Case{"no_route", {client01, "198.51.100.1"}, 1, "198.51.100.1", 5s},
        Case{"source_not_ours",
             {client04, "192.0.2.1", "--source", "192.0.2.99"},
             1,
             "--source",
             3s},
        Case{"source_no_address",
             {client04, "192.0.2.1", "--source", "192.0.2"},
             1,
             "'192.0.2' is not",
             3s},
        Case{"unknown_device",
             {client04, "192.0.2.1", "--device", "mlx5_9"},
             1,
             "this host has rxe0",
             3s},
        Case{"unknown_gid_index",
             {client04, "192.0.2.1", "--gid-index", "200"},
             1,
             "rxe0 has no GID with index 200. The GID table has:",
             3s,
             4},
        Case{"run_log_in_no_folder",
             {client04, "192.0.2.1", "--run-log", "/nonexistent/x"},
             1,
             "/nonexistent/x",
             3s},
        Case{"no_device",
             {"bash", "-c",
              "rdma link delete rxe0; " + client01 +
                  " 192.0.2.1; code=$?; rdma link add rxe0 type rxe netdev eth0; exit $code"},
             1,
             "This host has no usable RDMA device",
             5s},
        Case{"bind_to_a_strange_address",
             {server04, "--bind", "198.51.100.1"},
             1,
             "198.51.100.1",
             3s},
        Case{"no_permission",
             {"bash", "-c",
              "chmod 600 /dev/infiniband/uverbs*; setpriv --reuid=65534 --clear-groups "
              "--inh-caps=-all " +
                  client01 + " 192.0.2.1; code=$?; chmod 666 /dev/infiniband/uverbs*; exit $code"},
             1,
             "/dev/infiniband",
             3s}),
    [](const auto& test) { return std::string(test.param.name); });

class Server : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_F(Server, without_signal_handling_serves_one_client_after_the_other_and_leaves_nothing) {
    support::Process serving = support::start("server", {server01});
    ASSERT_TRUE(serving.await("listening on", 10s));
    support::Process a(support::on("client", {client01, "192.0.2.1"}));
    support::Process b(support::on("client", {client01, "2001:db8::1", "--length", "100000"}));
    EXPECT_EQ(a.wait(20s).exit_code, 0);
    EXPECT_EQ(b.wait(20s).exit_code, 0);
    serving.close_input();
    const auto outcome = serving.wait(10s);
    EXPECT_EQ(outcome.exit_code, 128 + SIGTERM) << outcome.all();
    for (const char* bytes : {": 10000 of 1048576 B in use", ": 100000 of 1048576 B in use"})
        EXPECT_NE(outcome.out.find(bytes), std::string::npos) << outcome.all();
    const auto left = support::exec("server", {"rdma", "resource", "show", "mr"});
    EXPECT_EQ(left.all(), "exit 0\n");
}

TEST_F(Server, says_that_its_port_is_taken) {
    support::Process first = support::start("server", {server04, "--port", "4242"});
    ASSERT_TRUE(first.await("listening on", 10s));
    const auto second = support::exec("server", {server04, "--port", "4242"});
    EXPECT_EQ(second.exit_code, 1);
    EXPECT_NE(second.err.find("choose another port"), std::string::npos) << second.all();
}

TEST_F(Server, serves_several_clients_and_ends_cleanly_on_sigterm) {
    support::Process serving = support::start("server", {server06});
    ASSERT_TRUE(serving.await("listening on", 10s));
    support::Process a(support::on("client", {client06, "192.0.2.1"}));
    support::Process b(support::on("client", {client06, "2001:db8::1", "--length", "100000"}));
    EXPECT_EQ(a.wait(20s).exit_code, 0);
    EXPECT_EQ(b.wait(20s).exit_code, 0);
    serving.close_input();
    const auto outcome = serving.wait(10s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.out.find("stopped by a signal"), std::string::npos) << outcome.all();
    // All of the server's memory regions are deregistered.
    const auto left = support::exec("server", {"rdma", "resource", "show", "mr"});
    EXPECT_EQ(left.exit_code, 0) << left.all();
    EXPECT_EQ(left.out, "") << left.all();
}

TEST_F(Server, outlives_a_client_that_is_killed) {
    support::Process serving =
        support::start("server", {server06, "--port", "4243", "--memory", "10000000"});
    ASSERT_TRUE(serving.await("listening on", 10s));
    // The client is killed while it is connected, during a WRITE that takes seconds.
    const auto killed = support::exec(
        "client",
        {"bash", "-c",
         client06 +
             " 192.0.2.1 --port 4243 --length 10000000 --timeout 60 >/tmp/killed.log & pid=$!; "
             "until grep -q post_send /tmp/killed.log; do kill -0 $pid || break; done; "
             "kill -KILL $pid; wait $pid"});
    EXPECT_EQ(killed.exit_code, 128 + SIGKILL) << killed.all();
    const auto next =
        support::exec("client", {client06, "192.0.2.1", "--port", "4243", "--timeout", "120"});
    EXPECT_EQ(next.exit_code, 0) << next.all();
}

TEST_F(Server, a_client_told_to_write_more_than_is_lent_is_told_so) {
    support::Process serving =
        support::start("server", {server06, "--port", "4244", "--memory", "100"});
    ASSERT_TRUE(serving.await("listening on", 10s));
    const auto outcome =
        support::exec("client", {client06, "192.0.2.1", "--port", "4244", "--length", "101"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("exposes 100 bytes"), std::string::npos) << outcome.all();
}

}  // namespace bad_input_test

// Lesson 06 in the lab: endpoints in clear text on the wire, chosen PSNs, and a client without a
// server.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace lesson06_test {

using support::LabRun;
using support::rows;
using support::rows_once;

class Lesson06 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

// Returns the payload of the capture's TCP segments as hexadecimal digits (tshark).
std::string tcp_payloads(const LabRun& run) {
    const auto outcome = support::run(
        {"tshark", "-n", "-r", run.file("wire.pcapng"), "-T", "fields", "-e", "tcp.payload"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
}

TEST_F(Lesson06, the_chosen_psns_are_on_the_wire_and_so_is_the_exchange) {
    const LabRun run = support::capture("06", {}, {"--psn", "0xabcdef"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto requests = rows_once(run, "bth.psn", "bth.opcode_name contains WRITE");
    ASSERT_EQ(requests.size(), 3U);
    EXPECT_EQ(requests[0][0], std::to_string(0xabcdef));
    const auto states = LabRun::ready_to_send(run.server);
    ASSERT_EQ(states.size(), 1U);
    EXPECT_EQ(states[0].number("rq_psn"), 0xabcdefU);
    EXPECT_EQ(states[0].number("sq_psn"), 0x5e1f00U);
    const auto* server_psn = LabRun::find(run.server, "psn");
    const auto* client_psn = LabRun::find(run.client, "psn");
    ASSERT_TRUE(server_psn != nullptr && client_psn != nullptr);
    EXPECT_EQ(server_psn->text("source"), "the program's default");
    EXPECT_EQ(server_psn->number("psn"), 0x5e1f00U);
    EXPECT_EQ(client_psn->text("source"), "--psn");
    EXPECT_EQ(client_psn->number("psn"), 0xabcdefU);
    EXPECT_TRUE(rows(run, "frame", "cm").empty()) << "there is no connection manager here";

    // "RWLX", version 1, an endpoint of 48 bytes, which contains the QPN and the PSN in clear text.
    const std::string payloads = tcp_payloads(run);
    EXPECT_NE(payloads.find("52574c5801010030"), std::string::npos) << payloads;
    EXPECT_NE(payloads.find("00abcdef"), std::string::npos) << payloads;
    EXPECT_NE(payloads.find("005e1f00"), std::string::npos) << payloads;
    support::expect_every_packet_joined(run);
}

TEST_F(Lesson06, psns_pass_zero_and_ipv6_works) {
    const LabRun run =
        support::capture("06", {"LAB_FAMILY=ipv6"}, {"--psn", "0xfffffe", "--length", "20000"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto posts = LabRun::all(run.client, "post_send");
    ASSERT_EQ(posts.size(), 2U);
    EXPECT_EQ(support::psns_of(posts[0]), (std::set<std::uint32_t>{0xfffffe, 0xffffff, 0, 1, 2}));
    support::expect_every_packet_joined(run);
}

TEST_F(Lesson06, a_client_without_a_server_waits_and_then_says_so) {
    const auto outcome = support::exec(
        "client", {"build/examples/06_verbs_tcp_exchange/client", "192.0.2.1", "--timeout", "1"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("No program listens there: start the server first"),
              std::string::npos)
        << outcome.err;
    EXPECT_GE(outcome.took, std::chrono::milliseconds(900));
}

}  // namespace lesson06_test

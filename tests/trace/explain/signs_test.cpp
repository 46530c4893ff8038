// Signs of a failure, the order of causes, and causes that several rules find.
#include "trace/explain/account.hpp"

namespace explain_test {

class Explained : public Account {};

TEST_F(Explained, failures_have_at_most_five_signs) {
    connect();
    write(100, 0x1000, 1, 8);
    nak(100, syndrome::access_error);
    nak(100, syndrome::access_error);
    for (int i = 0; i < 5; ++i)
        completes("GENERAL_ERR");
    EXPECT_EQ(signs(), R"(  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  client log: wc  wr 1 GENERAL_ERR
  client log: wc  wr 1 GENERAL_ERR
  client log: wc  wr 1 GENERAL_ERR
  client log: wc  wr 1 GENERAL_ERR
)");
}

TEST_F(Explained, failures_show_the_last_of_three_silent_copies) {
    repeat(100, 2);
    EXPECT_EQ(signs(), "");
    EXPECT_FALSE(last_.has_failed);
    repeat(100, 1);
    EXPECT_EQ(signs(), "  frame 3: RC SEND Only  PSN 0x000064  8 B  (copy 3, no response)\n");
    EXPECT_TRUE(last_.has_failed);
}

class ExplainedSilence : public Account {
  protected:
    /// The request with this PSN is refused, then another is sent three times.
    void fail(const Way& refused, const Way& refusal) {
        auto made = packet(refused, opcode::write_only, 500, 8);
        made.reth = wire::Reth{.va = 0x1000, .rkey = 1, .dmalen = 8};
        add(made);
        add(answer(refusal, 500, syndrome::access_error));
        for (int copy = 0; copy < 3; ++copy) {
            send(100);
            wait(67 * ms);
        }
    }
};

TEST_F(ExplainedSilence, is_listed_beside_the_failure_of_another_connection) {
    fail({.from = 2, .to = 1, .qpn = 0x12}, {.from = 1, .to = 2, .qpn = 0x22});
    EXPECT_EQ(unanswered(),
              "192.0.2.2 → 192.0.2.1, QP 0x000011\n"
              "  frame 5: RC SEND Only  PSN 0x000064  8 B  (copy 3, no response)\n");
    EXPECT_TRUE(last_.has_failed);
}

// A refusal ends the queue pairs of both ends.
TEST_F(ExplainedSilence, is_explained_by_the_failure_of_the_other_direction) {
    connect();
    fail(to_client, to_server);
    EXPECT_EQ(unanswered(), "");
    ASSERT_FALSE(last_.causes.empty());
    EXPECT_TRUE(last_.causes.front().is_fatal);
}

class ExplainedEnd : public Account,
                     public testing::WithParamInterface<std::pair<const char*, bool>> {};

TEST_P(ExplainedEnd, shows_a_request_for_which_a_program_waited_when_a_signal_ended_it) {
    connect();
    posts("SEND", 8, R"(,"psn_first":100,"psn_last":100,"request":0,"signaled":true)");
    wait(2100 * ms);
    log("client", R"("event":"process_end","pid":1,)" + std::string(GetParam().first));
    static_cast<void>(signs());
    EXPECT_EQ(last_.has_failed, GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, ExplainedEnd,
                         testing::Values(std::pair(R"("signal":15)", true),
                                         std::pair(R"("end":"signal or _exit")", true),
                                         std::pair(R"("exit_status":0)", false)));

// Of several queue pairs without any ACK, the capture does not show which belong together.
TEST_F(Explained, failures_show_a_nak_whose_request_is_unknown) {
    for (std::uint32_t qpn = 0x11; qpn < 0x13; ++qpn)
        add(packet({.from = 2, .to = 1, .qpn = qpn}, opcode::send_first, 100 * qpn, 1024));
    add(answer({.from = 1, .to = 2, .qpn = 0x21}, 0x11 * 100, syndrome::access_error));
    EXPECT_EQ(signs(), "  frame 3: RC Acknowledge  PSN 0x0006a4  NAK: Remote Access Error\n");
    EXPECT_TRUE(last_.has_failed);
}

TEST_F(Explained, naks_for_a_sequence_error_are_no_failure) {
    send(100);
    nak(100, syndrome::psn_error);
    EXPECT_EQ(signs(), "");
}

// {event, is a failure}
class EventOf : public Explained,
                public testing::WithParamInterface<std::pair<const char*, bool>> {};

TEST_P(EventOf, a_failure_is_a_sign) {
    log("client", GetParam().first);
    EXPECT_EQ(!signs().empty(), GetParam().second);
    EXPECT_EQ(last_.has_failed, GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(
    All, EventOf,
    testing::Values(
        std::pair(R"("event":"cm_event","type":"ROUTE_ERROR")", true),
        std::pair(R"("event":"cm_event","type":"CONNECT_ERROR")", true),
        std::pair(R"("event":"cm_event","type":"DEVICE_REMOVAL")", true),
        std::pair(R"("event":"cm_event","type":"DISCONNECTED")", false),
        std::pair(R"("event":"failed","call":"ibv_post_recv","error":"EINVAL")", true),
        std::pair(R"("event":"failed","call":"ibv_modify_qp","error":"EINVAL")", true),
        std::pair(R"("event":"failed","call":"ibv_reg_mr","error":"EINVAL")", true),
        std::pair(R"("event":"failed","call":"rdma_bind_addr","error":"EADDRINUSE")", true),
        std::pair(R"("event":"failed","call":"ibv_query_device_ex","error":"EINVAL")", false),
        std::pair(R"("event":"process_end","pid":1,"exit_status":1)", true),
        std::pair(R"("event":"process_end","pid":1,"signal":11)", true),
        std::pair(R"("event":"process_end","pid":1,"exit_status":0)", false),
        std::pair(R"("event":"process_end","pid":1,"signal":15)", false),
        std::pair(R"("event":"process_end","pid":1,"signal":2)", false),
        std::pair(R"("event":"process_end","pid":1)", false),
        std::pair(R"("event":"async","type":"PORT_ERR")", true),
        std::pair(R"("event":"async","type":"QP_FATAL")", true),
        std::pair(R"("event":"async","type":"COMM_EST")", false),
        std::pair(R"("event":"error","text":"ERR")", false),
        std::pair(R"("event":"note","text":"ERR")", false)));

TEST_F(Explained, programs_that_ended_with_an_error_are_signs) {
    for (const auto& [role, status] :
         {std::pair{"server", 0}, std::pair{"client", 1}, std::pair{"client2", 143}})
        ends(role, status);
    EXPECT_EQ(signs(), "  client: ended with status 1\n");
    EXPECT_TRUE(last_.has_failed);
    EXPECT_TRUE(last_.causes.empty());
}

TEST_F(Explained, programs_are_no_signs_if_none_ended_with_an_error) {
    ends("server", 0);
    ends("client", 130);
    ends("client2", 124);  // timeout(1)
    EXPECT_EQ(answered(), "none");
}

TEST_F(Explained, programs_that_ended_with_an_error_are_signs_once) {
    ends("client", 1);
    log("client", R"("event":"process_end","pid":7,"exit_status":1)");
    EXPECT_EQ(signs(), "  client log: process_end process 7 has ended with status 1\n");
}

TEST_F(Explained, reliable_connections_are_counted_by_direction) {
    send(100);
    add(packet(to_server, opcode::uc_send_only, 100, 8));
    add(datagram(to_server, 7, 1));
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(last_.connections, 1U);
    EXPECT_EQ(last_.packets, 3U);
}

TEST_F(Explained, fatal_causes_come_before_more_certain_ones_and_these_before_costly_ones) {
    connect();
    // Two connections with losses, the second with the larger cost.
    for (const std::uint8_t peer : {std::uint8_t{5}, std::uint8_t{6}}) {
        const Way way{.from = 4, .to = peer, .qpn = 0x44};
        for (const std::uint32_t psn : {100U, 102U})
            add(packet(way, opcode::send_only, psn, 8));
        wait(std::int64_t{peer} * 10 * ms);
        for (const std::uint32_t psn : {101U, 102U})
            add(packet(way, opcode::send_only, psn, 8));
    }
    auto made = packet(to_server, opcode::send_only, 100, 300);
    add(made);
    made.ipv4->dsfield |= 3;
    made.bth->psn = wire::Psn(101);
    add(made);
    ack(101);
    repeat(102, 3, 1000);
    EXPECT_EQ(causes(), R"(
large-packets-lost possible, fatal
  client → server, QP 0x000011
  requests with less payload were acknowledged before, and none of the copies of this one, which has 1000 bytes.
  frame 12: RC SEND Only  PSN 0x000066  1000 B
  frame 14: RC SEND Only  PSN 0x000066  1000 B  (copy 3)
  frame 11: RC Acknowledge  PSN 0x000065  ACK, no flow control by credits

congestion certain
  1 packet carries congestion marks (ECN), and 0 CNPs were sent: the receiver does not notify the sender.
  frame 10: RC SEND Only  PSN 0x000065  300 B

loss likely, 60001 us
  192.0.2.4 → 192.0.2.6, QP 0x000044
  packets were lost once, and 2 packets were retransmitted.
  frame 6: RC SEND Only  PSN 0x000066  8 B
  frame 7: RC SEND Only  PSN 0x000065  8 B  (again)

loss likely, 50001 us
  192.0.2.4 → 192.0.2.5, QP 0x000044
  packets were lost once, and 2 packets were retransmitted.
  frame 2: RC SEND Only  PSN 0x000066  8 B
  frame 3: RC SEND Only  PSN 0x000065  8 B  (again)
)");
}

TEST_F(Explained, causes_have_a_name_and_an_advice) {
    for (int code = 0; code <= static_cast<int>(explain::Code::Last); ++code) {
        EXPECT_FALSE(name(static_cast<explain::Code>(code)).empty()) << code;
        EXPECT_TRUE(advice(static_cast<explain::Code>(code)).ends_with('.')) << code;
    }
    EXPECT_EQ(advice(explain::Code::OtherPd),
              "Register the memory in the protection domain of the queue pair.");
}

// The first one of two receives explains the NAK, and the second one is certain.
TEST_F(Explained, causes_of_two_rules_have_the_evidence_of_both) {
    connect();
    server_posts_receive(64);
    server_posts_receive(64);
    send(100, 64);
    nak(100, 0x63);
    receive_completes("GENERAL_ERR");
    receive_completes("LOC_PROT_ERR", R"(,"request":1)");
    EXPECT_EQ(causes(), R"(
local-protection certain, fatal
  client → server, QP 0x000011
  a receive of the server used memory that its queue pair may not use.
  frame 1: RC SEND Only  PSN 0x000064  64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Operational Error
  server log: wc  wr 5 GENERAL_ERR (receive)
  server log: wc  wr 5 LOC_PROT_ERR (receive)
)");
}

TEST_F(Explained, causes_of_two_rules_have_the_larger_cost) {
    connect();
    log("client", R"("event":"qp_state","qpn":33,"state":"RTS","timeout":11,"retry_cnt":3)");
    posts_send(102, 8);
    for (std::uint32_t psn = 100; psn < 102; ++psn) {
        send(psn);
        wait(9 * ms - 1000);
        send(psn);
        ack(psn);
        ack(psn);
    }
    for (int copy = 0; copy < 3; ++copy) {
        send(102);
        ack(102);
        wait(9 * ms);
    }
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
timeout-too-short certain, fatal, 18000 us
  client → server, QP 0x000011
  4 requests were retransmitted although both copies arrived: the ACK timeout is shorter than the time until the response arrives.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000066 to 0x000066
  client log: wc  wr 1 RETRY_EXC_ERR
  frame 9: RC SEND Only  PSN 0x000066  8 B
  frame 10: RC Acknowledge  PSN 0x000066  ACK, no flow control by credits
  frame 13: RC SEND Only  PSN 0x000066  8 B
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 3: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
  frame 2: RC SEND Only  PSN 0x000064  8 B  (again after 9.00 ms; timeout 11 is 8.39 ms)
)");
}

}  // namespace explain_test

// Requesters that retransmit a request until they give up.
#include "trace/explain/account.hpp"

namespace explain_test {

class GivingUp : public Account {
  protected:
    /// Each copy is acknowledged at the capture.
    void acknowledged(int copies) {
        for (int copy = 0; copy < copies; ++copy) {
            send(100);
            ack(100);
            wait(67 * ms);
        }
    }
    void connect_with(int timeout, int retries) {
        make("server", server());
        make("client", client());
        ready("server", server());
        ready("client", client(), timeout);
        log("client",
            R"("event":"qp_state","qpn":33,"state":"RTS","retry_cnt":)" + std::to_string(retries));
    }
};

TEST_F(GivingUp, over_acknowledged_requests) {
    connect();
    posts_send(100, 8);
    acknowledged(3);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
acks-lost likely, fatal
  client → server, QP 0x000011
  the responder acknowledged a request, and the requester retransmitted it until it gave up: the responses do not reach it.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000064 to 0x000064
  client log: wc  wr 1 RETRY_EXC_ERR
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
  frame 5: RC SEND Only  PSN 0x000064  8 B
)");
}

// Some programs poll only some of their completions.
TEST_F(GivingUp, is_not_what_a_program_does_that_destroys_its_queue_pair) {
    connect();
    posts_send(100, 8);
    acknowledged(9);
    log("client", R"("event":"destroyed","what":"qp","qpn":33)");
    answered();
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(GivingUp, takes_two_retransmissions_after_the_response) {
    connect();
    posts_send(100, 8);
    acknowledged(2);
    completes("RETRY_EXC_ERR");
    answered();
    EXPECT_FALSE(
        std::ranges::any_of(last_.causes, [](const explain::Cause& one) { return one.is_fatal; }));
}

// retry_cnt is at most 7.
TEST_F(GivingUp, without_a_log_takes_seven_retransmissions_after_the_response) {
    acknowledged(8);
    EXPECT_EQ(answered(), "acks-lost likely");
    EXPECT_TRUE(first().is_fatal);
}

TEST_F(GivingUp, without_a_log_is_not_seen_in_six_retransmissions) {
    acknowledged(7);
    answered();
    EXPECT_FALSE(last_.has_failed);
}

// As Soft-RoCE with retry_cnt 7, which has no limit.
TEST_F(GivingUp, never_is_seen_when_nothing_new_was_sent_for_a_second) {
    acknowledged(20);
    EXPECT_EQ(answered(), "acks-lost likely");
    EXPECT_TRUE(first().is_fatal);
}

TEST_F(GivingUp, never_is_seen_in_several_requests_whose_first_responses_were_late) {
    posts_send(100, 8);
    for (int copy = 0; copy < 20; ++copy) {
        for (const std::uint32_t psn : {100U, 101U, 102U})
            send(psn);
        wait((copy == 0 ? 80 : 20) * ms);
        for (const std::uint32_t psn : {100U, 101U, 102U})
            ack(psn);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "acks-lost likely");
    EXPECT_TRUE(first().is_fatal);
}

TEST_F(GivingUp, never_is_not_seen_if_a_new_request_followed) {
    acknowledged(20);
    send(101);
    ack(101);
    answered();
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(GivingUp, without_a_log_is_not_seen_where_responses_were_late_before) {
    for (int copy = 0; copy < 6; ++copy) {
        send(99);
        ack(99);
        wait(67 * ms);
    }
    acknowledged(8);
    answered();
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(GivingUp, too_early) {
    connect_with(11, 3);
    posts_send(100, 8);
    acknowledged(3);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
timeout-too-short likely, fatal
  client → server, QP 0x000011
  the requester retransmitted a request until it gave up before the response could reach it: timeout 11 is 8.39 ms, and retry_cnt 3 gives it 33.55 ms in all.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000064 to 0x000064
  client log: wc  wr 1 RETRY_EXC_ERR
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
  frame 5: RC SEND Only  PSN 0x000064  8 B
)");
}

// {timeout, retry_cnt, expected}. All attempts together take 50 ms or more, or less: 8.4 ms with
// timeout 11, 16.8 ms with timeout 12.
class TimeToGiveUp : public GivingUp,
                     public testing::WithParamInterface<std::tuple<int, int, const char*>> {};

TEST_P(TimeToGiveUp, decides_whether_it_was_too_early) {
    const auto& [timeout, retries, expected] = GetParam();
    connect_with(timeout, retries);
    posts_send(100, 8);
    acknowledged(3);
    completes("RETRY_EXC_ERR");
    answered();
    EXPECT_EQ(name(first().code), expected);
}

INSTANTIATE_TEST_SUITE_P(All, TimeToGiveUp,
                         testing::Values(std::tuple(11, 4, "timeout-too-short"),
                                         std::tuple(11, 5, "acks-lost"),
                                         std::tuple(12, 1, "timeout-too-short"),
                                         std::tuple(12, 2, "acks-lost"),
                                         std::tuple(0, 1, "acks-lost")));

TEST_F(GivingUp, takes_three_copies_without_a_response) {
    send(100);
    ack(100);
    repeat(101, 2);
    add(packet({.from = 1, .to = 3, .qpn = 0x55}, opcode::send_only, 7, 8));
    EXPECT_EQ(answered(), "none");
}

TEST_F(GivingUp, over_the_last_packet_of_a_message) {
    connect();
    send(99);
    ack(99);
    for (int copy = 0; copy < 3; ++copy) {
        add(packet(to_server, opcode::send_last, 104, 8));
        wait(67 * ms);
    }
    EXPECT_EQ(causes(), R"(
large-packets-lost likely, fatal
  client → server, QP 0x000011
  only the last packet of a message arrives, which has 8 bytes of payload: the full packets before it are lost each time.
  frame 3: RC SEND Last  PSN 0x000068  8 B
  frame 5: RC SEND Last  PSN 0x000068  8 B  (copy 3)
  frame 2: RC Acknowledge  PSN 0x000063  ACK, no flow control by credits
)");
}

TEST_F(GivingUp, over_the_last_packet_of_a_message_takes_three_copies) {
    connect();
    send(99);
    ack(99);
    posts("SEND", 4104, R"(,"psn_first":100,"psn_last":104)");
    for (int copy = 0; copy < 2; ++copy) {
        add(packet(to_server, opcode::send_last, 104, 8));
        wait(67 * ms);
    }
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(GivingUp, over_the_last_packet_of_a_message_that_arrives_with_the_one_before) {
    connect();
    send(102);
    ack(102);
    for (int copy = 0; copy < 3; ++copy) {
        add(packet(to_server, opcode::send_middle, 103, 8));
        add(packet(to_server, opcode::send_last, 104, 8));
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "path-broken likely");
}

// The others need no response, so the responder is not silent.
TEST_F(GivingUp, over_a_message_whose_end_never_arrives) {
    send(100, 1024);
    ack(100);
    for (int copy = 0; copy < 4; ++copy) {
        add(packet(to_server, opcode::send_first, 101, 1024));
        add(packet(to_server, opcode::send_middle, 102, 1024));
        wait(67 * ms);
    }
    EXPECT_EQ(causes(), R"(
loss likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  after frame 2, the capture has no last packet of a message, which would ask for a response: these were lost before the capture.
  frame 3: RC SEND First  PSN 0x000065  1024 B
  frame 9: RC SEND First  PSN 0x000065  1024 B  (copy 4)
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
)");
    // Its own capture has all that it sent.
    for (explain::Explainer* one : {&explainer_, &forgetful_})
        one->captured_at(*flow::host_of_gid(gid(2)));
    EXPECT_EQ(answered(), "peer-gone possible");
}

TEST_F(GivingUp, over_a_message_of_which_a_packet_asks_for_a_response) {
    send(100, 1024);
    ack(100);
    for (int copy = 0; copy < 4; ++copy) {
        auto first = packet(to_server, opcode::send_first, 101, 1024);
        first.bth->a = copy == 3;
        add(first);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "peer-gone possible");
}

TEST_F(GivingUp, over_a_read_of_whose_responses_only_the_last_arrives) {
    for (int copy = 0; copy < 3; ++copy) {
        add(read(to_server, 100, 1500));
        add(packet(to_client, opcode::read_last, 101, 476));
        wait(67 * ms);
    }
    EXPECT_EQ(causes(), R"(
large-packets-lost likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  of the responses to a READ, only the last packet arrives, which has 476 bytes of payload: the full packets before it are lost each time.
  frame 1: RC RDMA READ Request  PSN 0x000064  va 0x1000 rkey 0x00000077, 1500 B
  frame 2: RC RDMA READ response Last  PSN 0x000065  ACK, 0 credits  476 B
)");
}

// {copies of the READ, opcode and PSN of the responses}
class OnlyTheLastResponse
    : public GivingUp,
      public testing::WithParamInterface<std::tuple<int, std::uint8_t, std::uint32_t>> {};

TEST_P(OnlyTheLastResponse, is_no_sign_of_lost_large_packets) {
    const auto& [copies, code, psn] = GetParam();
    for (int copy = 0; copy < copies; ++copy) {
        add(read(to_server, 100, 1500));
        add(packet(to_client, code, psn, 476));
        wait(67 * ms);
    }
    answered();
    EXPECT_TRUE(std::ranges::none_of(last_.causes, [](const explain::Cause& one) {
        return one.code == explain::Code::LargePacketsLost;
    }));
}

INSTANTIATE_TEST_SUITE_P(All, OnlyTheLastResponse,
                         testing::Values(std::tuple(2, opcode::read_last, 101U),
                                         std::tuple(3, opcode::read_middle, 101U),
                                         std::tuple(3, opcode::read_last, 100U)));

TEST_F(GivingUp, over_a_read_of_which_another_response_arrives) {
    for (int copy = 0; copy < 3; ++copy) {
        add(read(to_server, 100, 1500));
        add(packet(to_client, opcode::read_last, 101, 476));
        wait(67 * ms);
    }
    add(packet(to_client, opcode::read_first, 100, 1024));
    answered();
    EXPECT_TRUE(std::ranges::none_of(last_.causes, [](const explain::Cause& one) {
        return one.code == explain::Code::LargePacketsLost;
    }));
}

}  // namespace explain_test

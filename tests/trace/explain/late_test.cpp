// Retransmissions of requests whose responses, or whose requester, were late: nothing was lost.
#include "trace/explain/late_fixture.hpp"

namespace explain_test {

// The responder acknowledges each packet of the second copy with the last PSN that it executed.
TEST_F(Late, of_a_message_whose_copies_are_acknowledged_show_no_loss) {
    connect();
    works(99);
    for (const std::uint32_t psn : {100U, 102U}) {
        message(psn);
        wait(67 * ms);
        message(psn);
        for (int i = 0; i < 3; ++i)
            ack(psn + 1);
    }
    EXPECT_EQ(causes(), R"(
timeout-too-short certain, 134004 us
  client → server, QP 0x000011
  2 requests were retransmitted although both copies arrived: the ACK timeout is shorter than the time until the response arrives.
  frame 3: RC SEND First  PSN 0x000064  1024 B
  frame 7: RC Acknowledge  PSN 0x000065  ACK, no flow control by credits
  frame 5: RC SEND First  PSN 0x000064  1024 B  (again after 67.00 ms; timeout 14 is 67.11 ms)
)");
}

// The acknowledgements of duplicates have the PSN of the newest request.
TEST_F(Late, of_several_requests_whose_copies_are_acknowledged_show_no_loss) {
    connect();
    for (int copy = 0; copy < 2; ++copy) {
        send(100);
        send(101);
        wait(copy == 0 ? 67 * ms : 0);
    }
    for (const std::uint32_t psn : {100U, 101U, 101U, 101U})
        ack(psn);
    EXPECT_EQ(answered(), "none");
}

// The requester had not waited: it was slow to send the message.
TEST_F(Late, of_a_message_that_was_not_complete_show_no_loss) {
    connect();
    for (int i = 0; i < 4; ++i) {
        add(packet(to_server, opcode::send_first, 100, 1024));
        wait(20 * ms);
        add(packet(to_server, opcode::send_middle, 101, 1024));
        wait(20 * ms);
    }
    send(102);
    ack(102);
    answered();
    EXPECT_FALSE(has(explain::Code::Loss));
}

// {nanoseconds until the response, expected}. The timer expires after 40 ms of 67.1 ms.
class RunningTimer : public Late,
                     public testing::WithParamInterface<std::pair<std::int64_t, const char*>> {};

TEST_P(RunningTimer, does_not_show_a_short_timeout) {
    connect();
    for (std::uint32_t psn = 100; psn < 102; ++psn) {
        send(psn);
        wait(40 * ms);
        send(psn);
        wait(GetParam().first - 40 * ms);
        ack(psn);
        ack(psn);
    }
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, RunningTimer,
                         testing::Values(std::pair(50 * ms, "needless-retransmissions likely"),
                                         std::pair(60 * ms, "timeout-too-short certain")));

// Without a timeout, the capture does not show that the response was late.
TEST_F(Late, of_an_unknown_timeout_are_needless) {
    for (std::uint32_t psn = 100; psn < 102; ++psn) {
        send(psn);
        wait(20 * ms);
        send(psn);
        ack(psn);
        ack(psn);
    }
    EXPECT_EQ(causes(), R"(
needless-retransmissions likely, 40002 us
  192.0.2.2 → 192.0.2.1, QP 0x000011
  requests were retransmitted 2 times, and nothing shows a loss: both copies arrived, and both were acknowledged.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 3: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
  frame 2: RC SEND Only  PSN 0x000064  8 B  (again)
)");
}

// The capture is at the responder, and its ACKs take 60 ms from there.
TEST_F(Late, until_the_completions_come_show_a_short_timeout) {
    connect_with(10);
    int number = 0;
    for (std::uint32_t psn = 100; psn < 103; ++psn, ++number) {
        posts_number(number, psn);
        works(psn);
        wait(5 * ms);
        works(psn);
        wait(55 * ms);
        completes_number(number);
    }
    for (std::uint32_t psn = 103; psn < 106; ++psn)
        works(psn);
    EXPECT_EQ(causes(), R"(
timeout-too-short likely
  client → server, QP 0x000011
  requests were retransmitted 3 times before their responses reached the requester: the fastest completion came 60.01 ms after its request was posted, and timeout 10 is 4.19 ms.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
  frame 3: RC SEND Only  PSN 0x000064  8 B  (again after 5.00 ms; timeout 10 is 4.19 ms)
)");
    EXPECT_EQ(first().advice(),
              "Set timeout to 15 (134.22 ms): the first value that leaves twice the time of the "
              "slowest response, 60.01 ms.");
}

// Late responses do not explain why a requester waits far longer than for any of them.
TEST_F(Late, before_a_long_silence_are_not_why_it_ended) {
    connect_with(14);
    for (std::uint32_t psn = 100; psn < 103; ++psn) {
        send(psn);
        wait(70 * ms);
        send(psn);
        ack(psn);
        ack(psn);
    }
    repeat(103, 12);
    answered();
    EXPECT_TRUE(std::ranges::any_of(last_.causes, [](const explain::Cause& one) {
        return one.code == explain::Code::TimeoutTooShort && !one.is_fatal;
    }));
    EXPECT_NE(first().code, explain::Code::TimeoutTooShort);
    EXPECT_TRUE(first().is_fatal);
}

TEST_F(Late, until_the_completions_of_a_responder_that_is_not_ready_show_nothing) {
    connect_with(10);
    int number = 0;
    for (std::uint32_t psn = 100; psn < 103; ++psn, ++number) {
        posts_number(number, psn);
        send(psn);
        nak(psn, syndrome::rnr);
        wait(60 * ms);
        works(psn);
        completes_number(number);
    }
    works(103);
    wait(5 * ms);
    works(103);
    answered();
    EXPECT_FALSE(has(explain::Code::TimeoutTooShort));
    EXPECT_TRUE(has(explain::Code::NeedlessRetransmissions));
}

// A requester gives up after 7 retransmissions.
TEST_F(Late, that_are_more_than_a_requester_makes_are_no_failure) {
    for (int copy = 0; copy < 9; ++copy) {
        works(100);
        wait(67 * ms);
    }
    answered();
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(Late, responses_have_the_timer_of_the_driver_beside_the_second_copy) {
    connect_with(14);
    for (std::uint32_t psn = 100; psn < 103; ++psn) {
        send(psn);
        wait(70 * ms);
        log("client", R"("event":"driver","step":"ack_timer","qpn":33)");
        log("client", R"("event":"driver","step":"completer","qpn":33)");
        log("client", fmt::format(R"("event":"driver","step":"transmit","qpn":33,"psn":{})", psn));
        send(psn);
        ack(psn);
        ack(psn);
    }
    const std::string all = causes();
    EXPECT_NE(all.find("\n  client log: driver    ack_timer  QP 0x000021\n"), std::string::npos)
        << all;
    EXPECT_EQ(all.find("completer"), std::string::npos) << all;
}

}  // namespace explain_test

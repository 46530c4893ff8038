// Retransmissions, and what explanations say about them.
#include "trace/explain/account.hpp"

namespace explain_test {

class Recovery : public Account {
  protected:
    /// A request that is retransmitted `ns` later although its response was captured.
    void answered_twice(std::uint32_t psn, std::int64_t ns = 67 * ms) {
        send(psn);
        ack(psn);
        wait(ns - 2000);
        send(psn);
        ack(psn);
    }
    /// A request whose response comes after the retransmission, and both copies have one.
    void answered_late(std::uint32_t psn, std::int64_t ns = 67 * ms) {
        send(psn);
        wait(ns - 1000);
        send(psn);
        ack(psn);
        ack(psn);
    }
    void lost(std::uint32_t psn) {
        send(psn);
        wait(67 * ms - 1000);
        send(psn);
        ack(psn);
    }
    void works(std::uint32_t psn) {
        send(psn);
        ack(psn);
    }
};

TEST_F(Recovery, of_a_packet_lost_behind_the_capture) {
    connect();
    works(100);
    lost(101);
    EXPECT_EQ(causes(), R"(
loss likely, 67000 us
  client → server, QP 0x000011
  packets were lost once, and 1 packet was retransmitted.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 5: RC Acknowledge  PSN 0x000065  ACK, no flow control by credits
  frame 4: RC SEND Only  PSN 0x000065  8 B  (again after 67.00 ms; timeout 14 is 67.11 ms)
)");
}

TEST_F(Recovery, of_a_packet_lost_before_the_capture) {
    connect();
    works(100);
    send(103);
    nak(101, syndrome::psn_error);
    for (std::uint32_t psn = 101; psn < 104; ++psn)
        send(psn);
    ack(103);
    EXPECT_EQ(causes(), R"(
loss likely, 2 us
  client → server, QP 0x000011
  packets were lost once, and 3 packets were retransmitted.
  frame 3: RC SEND Only  PSN 0x000067  8 B
  frame 4: RC Acknowledge  PSN 0x000065  NAK: PSN Sequence Error
  frame 5: RC SEND Only  PSN 0x000065  8 B  (again)
)");
}

TEST_F(Recovery, of_a_packet_that_the_responder_asks_for) {
    connect();
    send(100);
    send(101);
    nak(100, syndrome::psn_error);
    send(100);
    send(101);
    ack(101);
    EXPECT_EQ(causes(), R"(
loss likely, 3 us
  client → server, QP 0x000011
  packets were lost once, and 2 packets were retransmitted.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 3: RC Acknowledge  PSN 0x000064  NAK: PSN Sequence Error
  frame 4: RC SEND Only  PSN 0x000064  8 B  (again)
)");
}

// The capture is at the responder: it lacks the packets that were lost, also of a retransmission.
TEST_F(Recovery, of_a_packet_lost_again_counts_it_once_more) {
    connect();
    works(100);
    send(102);
    nak(101, syndrome::psn_error);
    for (std::uint32_t psn = 103; psn < 107; ++psn)
        send(psn);
    for (const std::uint32_t psn : {101, 102, 104, 105, 106})
        send(psn);
    nak(103, syndrome::psn_error);
    for (std::uint32_t psn = 103; psn < 107; ++psn)
        send(psn);
    ack(106);
    EXPECT_NE(causes().find("packets were lost 2 times, and 9 packets were retransmitted."),
              std::string::npos)
        << causes();
}

// Distances between the lost packets, in packets.
struct Distances {
    std::vector<std::uint32_t> between;
    const char* expected;
};
class Pattern : public Recovery, public testing::WithParamInterface<Distances> {};

TEST_P(Pattern, of_losses) {
    connect();
    std::uint32_t psn = 100;
    lost(psn++);
    for (const std::uint32_t distance : GetParam().between) {
        for (std::uint32_t i = 2; i < distance; ++i)
            works(psn++);
        lost(psn++);
    }
    answered();
    EXPECT_EQ(first().text, GetParam().expected);
    EXPECT_EQ(first().cost_ns, 67 * ms * static_cast<int>(GetParam().between.size() + 1));
}

INSTANTIATE_TEST_SUITE_P(
    All, Pattern,
    testing::Values(
        Distances{{}, "packets were lost once, and 1 packet was retransmitted."},
        Distances{{10, 10}, "packets were lost 3 times, and 3 packets were retransmitted."},
        Distances{{5, 5, 5},
                  "packets were lost 4 times, about every 5 packets, and 4 packets were "
                  "retransmitted."},
        Distances{{4, 4, 4},
                  "packets were lost 4 times, at irregular distances, and 4 packets were "
                  "retransmitted."},
        Distances{{10, 12, 10},
                  "packets were lost 4 times, about every 11 packets, and 4 packets were "
                  "retransmitted."},
        Distances{{10, 13, 10},
                  "packets were lost 4 times, at irregular distances, and 4 packets were "
                  "retransmitted."},
        Distances{{27, 30, 27},
                  "packets were lost 4 times, about every 28 packets, and 4 packets were "
                  "retransmitted."},
        Distances{{26, 30, 26},
                  "packets were lost 4 times, at irregular distances, and 4 packets were "
                  "retransmitted."}));

TEST_F(Recovery, of_requests_with_captured_responses) {
    connect();
    for (std::uint32_t psn = 100; psn < 110; ++psn)
        works(psn);
    answered_twice(110);
    answered_twice(111);
    EXPECT_EQ(causes(), R"(
needless-retransmissions possible, 134000 us
  client → server, QP 0x000011
  requests were retransmitted 2 times, although the capture has the response: it reached the requester too late, or not at all.
  frame 21: RC SEND Only  PSN 0x00006e  8 B
  frame 22: RC Acknowledge  PSN 0x00006e  ACK, no flow control by credits
  frame 23: RC SEND Only  PSN 0x00006e  8 B  (again after 67.00 ms; timeout 14 is 67.11 ms)
)");
}

// {time until the retransmission, expected}. The ACK timeout is 67.1 ms, and a timer expires after
// half of it or later.
class Retransmission : public Recovery,
                       public testing::WithParamInterface<std::pair<std::int64_t, const char*>> {};

TEST_P(Retransmission, by_a_timer_comes_late) {
    connect();
    for (std::uint32_t psn = 100; psn < 110; ++psn)
        works(psn);
    answered_twice(110, GetParam().first);
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, Retransmission,
                         testing::Values(std::pair(33'554'432, "needless-retransmissions possible"),
                                         std::pair(33'554'431, "none")));

// {time until the retransmission, expected}. Without a log, the ACK timeout is unknown.
class RetransmissionWithoutLog : public Retransmission {};

TEST_P(RetransmissionWithoutLog, of_an_acknowledged_request_is_late_or_lost) {
    for (std::uint32_t psn = 100; psn < 110; ++psn)
        works(psn);
    answered_twice(110, GetParam().first);
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, RetransmissionWithoutLog,
                         testing::Values(std::pair(1 * ms, "needless-retransmissions possible"),
                                         std::pair(1 * ms - 1, "none")));

TEST_F(Recovery, of_each_request_shows_a_short_timeout) {
    connect();
    for (std::uint32_t psn = 100; psn < 103; ++psn)
        answered_twice(psn);
    EXPECT_EQ(causes(), R"(
timeout-too-short likely
  client → server, QP 0x000011
  3 requests were retransmitted although both copies arrived: the ACK timeout is shorter than the time until the response arrives.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
  frame 3: RC SEND Only  PSN 0x000064  8 B  (again after 67.00 ms; timeout 14 is 67.11 ms)
)");
}

// {requests with two responses, others, expected}. Four of five are enough.
class RetransmissionOfEach : public Recovery,
                             public testing::WithParamInterface<std::tuple<int, int, const char*>> {
};

TEST_P(RetransmissionOfEach, shows_a_short_timeout) {
    const auto& [twice, once, expected] = GetParam();
    connect();
    std::uint32_t psn = 100;
    for (int i = 0; i < twice; ++i)
        answered_twice(psn++);
    for (int i = 0; i < once; ++i)
        works(psn++);
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, RetransmissionOfEach,
                         testing::Values(std::tuple(3, 0, "timeout-too-short likely"),
                                         std::tuple(2, 0, "needless-retransmissions possible"),
                                         std::tuple(4, 1, "timeout-too-short likely"),
                                         std::tuple(4, 2, "needless-retransmissions possible")));

TEST_F(Recovery, of_late_responses_shows_a_short_timeout) {
    connect();
    answered_late(100);
    answered_late(101);
    EXPECT_EQ(causes(), R"(
timeout-too-short certain, 134000 us
  client → server, QP 0x000011
  2 requests were retransmitted although both copies arrived: the ACK timeout is shorter than the time until the response arrives.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 3: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
  frame 2: RC SEND Only  PSN 0x000064  8 B  (again after 67.00 ms; timeout 14 is 67.11 ms)
)");
}

TEST_F(Recovery, of_one_late_response_shows_nothing) {
    connect();
    answered_late(100);
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(retransmissions(),
              "client → server, QP 0x000011: 1 packet, 67000 us; frames 1 3 2\n");
}

TEST_F(Recovery, of_late_responses_and_a_loss_is_less_certain) {
    connect();
    answered_late(100);
    answered_late(101);
    lost(102);
    EXPECT_EQ(answered(), "timeout-too-short likely");
}

TEST_F(Recovery, of_fewer_late_responses_than_earlier_ones_shows_no_short_timeout) {
    connect();
    for (std::uint32_t psn = 100; psn < 110; ++psn)
        works(psn);
    answered_late(110);
    answered_late(111);
    for (std::uint32_t psn = 112; psn < 115; ++psn)
        answered_twice(psn);
    EXPECT_EQ(answered(), "needless-retransmissions possible");
}

TEST_F(Recovery, of_as_many_late_responses_as_earlier_ones_shows_a_short_timeout) {
    connect();
    for (std::uint32_t psn = 100; psn < 110; ++psn)
        works(psn);
    for (std::uint32_t psn = 110; psn < 112; ++psn)
        answered_late(psn);
    for (std::uint32_t psn = 112; psn < 114; ++psn)
        answered_twice(psn);
    EXPECT_EQ(answered(), "timeout-too-short certain");
}

}  // namespace explain_test

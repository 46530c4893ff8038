// Retransmissions of requests whose responses, or whose requester, were late: nothing was lost.
#include "trace/explain/account.hpp"

namespace explain_test {

class Late : public Account {
  protected:
    void connect_with(int timeout) {
        make("server", server());
        make("client", client());
        ready("server", server());
        ready("client", client(), timeout);
    }
    void works(std::uint32_t psn) {
        send(psn);
        ack(psn);
    }
    /// Timeout 10 is 4.2 ms: the requester sends a request again after at most 17 ms.
    void works_again_after_300_ms() {
        connect_with(10);
        works(100);
        works(101);
        wait(300 * ms);
        works(101);
        works(102);
    }
    /// A message of two packets. Only the last one requires a response.
    void message(std::uint32_t psn) {
        add(packet(to_server, opcode::send_first, psn, 1024));
        auto last = packet(to_server, opcode::send_last, psn + 1, 8);
        last.bth->a = true;
        add(last);
    }
    void posts_number(int number, std::uint32_t psn) {
        posts("SEND", 8,
              fmt::format(R"(,"request":{},"psn_first":{},"psn_last":{})", number, psn, psn));
    }
    void completes_number(int number) {
        log("client", fmt::format(R"("event":"wc","qpn":33,"wr_id":1,"queue":"send","request":{},)"
                                  R"("status":"SUCCESS")",
                                  number));
    }
    bool has(explain::Code code) const {
        return std::ranges::any_of(last_.causes,
                                   [&](const explain::Cause& one) { return one.code == code; });
    }
};

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

// The second copy of the first packet is a duplicate, that of the last one is not.
TEST_F(Late, of_a_message_whose_end_is_acknowledged_once_show_a_loss) {
    connect();
    works(99);
    message(100);
    wait(67 * ms);
    message(100);
    ack(99);
    ack(101);
    EXPECT_EQ(answered(), "loss likely");
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

// {another request before it, responder's log, expected}
class Unanswered : public Late,
                   public testing::WithParamInterface<std::tuple<bool, bool, const char*>> {};

TEST_P(Unanswered, request_is_lost_unless_the_responder_may_not_have_been_ready) {
    const auto& [has_worked, has_log, expected] = GetParam();
    if (has_log) {
        make("server", server());
        ready("server", server());
    }
    if (has_worked)
        works(99);
    send(100);
    wait(67 * ms);
    works(100);
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, Unanswered,
                         testing::Values(std::tuple(false, false, "none"),
                                         std::tuple(true, false, "loss likely"),
                                         std::tuple(false, true, "loss likely")));

// {nanoseconds, expected}. The end of the message may be lost, or the requester's host pauses.
class Pause : public Late,
              public testing::WithParamInterface<std::pair<std::int64_t, const char*>> {};

TEST_P(Pause, in_a_message_shows_a_loss_if_it_is_long) {
    works(99);
    add(packet(to_server, opcode::send_first, 100, 1024));
    wait(GetParam().first - 1000);
    add(packet(to_server, opcode::send_first, 100, 1024));
    send(101);
    ack(101);
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, Pause,
                         testing::Values(std::pair(250 * ms, "loss likely"),
                                         std::pair(249 * ms, "none")));

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
  requests were retransmitted 2 times, and nothing shows that they or their responses were lost: both copies arrived, and both were acknowledged.
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

// {retransmissions of the last request, another request that was late before, requester's log, lost}
class LastRequest : public Late,
                    public testing::WithParamInterface<std::tuple<int, bool, bool, const char*>> {};

TEST_P(LastRequest, that_is_retransmitted_until_the_end) {
    const auto& [copies, was_late, has_log, expected] = GetParam();
    if (has_log)
        connect();
    std::uint32_t psn = 100;
    for (; psn < 130; ++psn)
        works(psn);
    for (int copy = 0; copy <= copies + (was_late ? 1 : 0); ++copy) {
        works(psn);
        if (was_late && copy == 0) {
            wait(67 * ms);
            works(psn++);
            works(psn);
        }
        wait(67 * ms);
    }
    answered();
    EXPECT_EQ(name(first().code), expected);
    EXPECT_FALSE(first().is_fatal);
}

INSTANTIATE_TEST_SUITE_P(All, LastRequest,
                         testing::Values(std::tuple(3, false, false, "acks-lost"),
                                         std::tuple(2, false, false, "needless-retransmissions"),
                                         std::tuple(3, true, false, "needless-retransmissions"),
                                         std::tuple(3, false, true, "needless-retransmissions")));

TEST_F(Late, copy_of_an_answered_request_shows_that_others_were_lost) {
    capture_at_server();
    works_again_after_300_ms();
    EXPECT_EQ(causes(), R"(
loss likely, 300002 us
  client → server, QP 0x000011
  the capture has the next copy of a request only after 300.00 ms, and its requester sends it again after at most 16.78 ms (timeout 10 is 4.19 ms): the response was lost, and so were the copies before they were captured.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 4: RC Acknowledge  PSN 0x000065  ACK, no flow control by credits
  frame 5: RC SEND Only  PSN 0x000065  8 B  (again after 300.00 ms; timeout 10 is 4.19 ms)
)");
}

// A capture at the requester has all copies that it sent.
TEST_F(Late, copy_at_its_requester_is_the_next_one) {
    for (explain::Explainer* one : {&explainer_, &forgetful_})
        one->captured_at(*flow::host_of_gid(gid(2)));
    works_again_after_300_ms();
    answered();
    EXPECT_FALSE(has(explain::Code::Loss));
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

// {milliseconds from a post to its completion, answer}: timeout 16 is 268 ms.
class CompletedLate : public Late,
                      public testing::WithParamInterface<std::pair<int, const char*>> {};

TEST_P(CompletedLate, just_after_the_timeout_shows_that_responses_were_lost) {
    capture_at_server();
    connect_with(16);
    for (int number = 0; number < 3; ++number) {
        const auto psn = static_cast<std::uint32_t>(100 + number);
        posts_number(number, psn);
        send(psn);
        ack(psn);
        wait(270 * ms);
        send(psn);
        ack(psn);
        wait((GetParam().first - 270) * ms);
        completes_number(number);
    }
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, CompletedLate,
                         testing::Values(std::pair(275, "acks-lost likely"),
                                         std::pair(300, "acks-lost likely"),
                                         std::pair(320, "timeout-too-short likely"),
                                         std::pair(900, "timeout-too-short likely")));

// {nanoseconds until the second copy, expected}: four times timeout 14, and a pause of 250 ms.
class LateCopy : public Late,
                 public testing::WithParamInterface<std::pair<std::int64_t, const char*>> {};

TEST_P(LateCopy, of_an_answered_request) {
    connect();
    works(100);
    works(101);
    wait(GetParam().first - 2000);
    works(101);
    works(102);
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, LateCopy,
                         testing::Values(std::pair(518'435'456,
                                                   "needless-retransmissions possible"),
                                         std::pair(518'435'457, "loss likely")));

// The copies of one request of three are not four of five requests.
TEST_F(Late, copies_of_one_request_show_no_short_timeout) {
    for (std::uint32_t psn = 100; psn < 103; ++psn)
        works(psn);
    for (int copy = 0; copy < 4; ++copy) {
        wait(67 * ms);
        works(102);
    }
    EXPECT_EQ(answered(), "acks-lost likely");
}

}  // namespace explain_test

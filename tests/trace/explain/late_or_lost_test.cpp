// Retransmissions of requests that have responses, and that show whether a packet was lost or late.
#include "trace/explain/late_fixture.hpp"

namespace explain_test {

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
    EXPECT_EQ(first().text.find("and then nothing new was sent") != std::string::npos,
              first().code == explain::Code::AcksLost);
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

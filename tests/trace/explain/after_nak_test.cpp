// Requesters after a NAK: they wait as an RNR NAK asks, or send nothing any more.
#include "trace/explain/timers_fixture.hpp"

namespace explain_test {

namespace {
constexpr std::uint8_t longest_rnr = 0x20;  // code 0: 655.36 ms
constexpr std::int64_t s = 1000 * ms;
}  // namespace

TEST_F(Timers, that_a_requester_never_obeys_after_an_rnr_nak_are_a_failure) {
    send(100);
    nak(100, syndrome::rnr);
    goes_on(3 * s);
    EXPECT_EQ(causes(), R"(
receiver-not-ready certain, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  the responder had no receive posted once, and the requester sent nothing in the 3.00 s after that.
  frame 2: RC Acknowledge  PSN 0x000064  RNR NAK, wait 0.64 ms
)");
    EXPECT_TRUE(last_.has_failed);
}

// {nanoseconds until the end of the capture, RNR NAK, failed}: 2 s, and the time that the NAK asks for.
class EndOfCapture
    : public Timers,
      public testing::WithParamInterface<std::tuple<std::int64_t, std::uint8_t, bool>> {};

TEST_P(EndOfCapture, decides_whether_the_requester_would_have_sent_again) {
    const auto& [ns, syndrome, failed] = GetParam();
    send(100);
    nak(100, syndrome);
    goes_on(ns);
    answered();
    EXPECT_EQ(last_.has_failed, failed);
}

INSTANTIATE_TEST_SUITE_P(All, EndOfCapture,
                         testing::Values(std::tuple(2 * s, syndrome::rnr, false),
                                         std::tuple(2001 * ms, syndrome::rnr, true),
                                         std::tuple(2600 * ms, longest_rnr, false),
                                         std::tuple(2700 * ms, longest_rnr, true),
                                         std::tuple(2 * s - 1, syndrome::psn_error, false),
                                         std::tuple(2 * s, syndrome::psn_error, true)));

TEST_F(Timers, that_a_requester_obeys_late_are_no_failure) {
    send(100);
    nak(100, syndrome::rnr);
    goes_on(3 * s);
    send(100);
    ack(100);
    answered();
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(Timers, of_a_requester_that_never_obeys_a_nak) {
    send(100);
    send(102);
    nak(101, syndrome::psn_error);
    goes_on(3 * s);
    EXPECT_EQ(causes(), R"(
path-broken possible, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  the responder asked for PSN 0x000065 again, and the requester sent nothing in the 3.00 s after that: it ended, or the NAK was lost.
  frame 3: RC Acknowledge  PSN 0x000065  NAK: PSN Sequence Error
)");
}

// Another host may have sent a packet in its name.
TEST_F(Timers, of_a_requester_that_has_nothing_to_send) {
    connect();
    posts_send(100, 8);
    send(100);
    ack(100);
    completes("SUCCESS");
    send(102);
    nak(101, syndrome::psn_error);
    goes_on(3 * s);
    answered();
    EXPECT_FALSE(last_.has_failed);
}

// So many packets are hardly lost at once.
TEST_F(Timers, of_a_request_far_ahead_in_the_name_of_a_requester) {
    send(100);
    ack(100);
    send(102 + 256);
    nak(101, syndrome::psn_error);
    goes_on(3 * s);
    EXPECT_EQ(causes(), "");
}

// The RNR NAK is older, and the requester has obeyed it.
TEST_F(Timers, of_a_receiver_that_is_ready_later_are_not_blamed_for_the_end) {
    send(100);
    nak(100, syndrome::rnr);
    wait(ms);
    send(100);
    ack(100);
    send(102);
    nak(101, syndrome::psn_error);
    goes_on(3 * s);
    EXPECT_EQ(answered(), "path-broken possible");
}

TEST_F(Timers, that_end_by_an_rnr_nak_and_a_nak) {
    send(100);
    nak(100, syndrome::rnr);
    send(101);
    nak(100, syndrome::psn_error);
    goes_on(3 * s);
    EXPECT_EQ(answered(), "receiver-not-ready certain");
    EXPECT_TRUE(first().is_fatal);
}

// The capture ends, and the log of the requester does not.
TEST_F(Timers, that_never_end_according_to_the_log) {
    connect();
    posts_send(100, 8);
    send(100);
    nak(100, syndrome::rnr);
    wait(3 * s);
    log("client", R"("event":"note","text":"waiting")");
    EXPECT_EQ(answered(), "receiver-not-ready certain");
    EXPECT_TRUE(first().is_fatal);
}

TEST_F(Timers, that_end_with_success_according_to_the_log) {
    connect();
    posts_send(100, 8);
    send(100);
    nak(100, syndrome::rnr);
    wait(3 * s);
    completes("SUCCESS");
    answered();
    EXPECT_FALSE(last_.has_failed);
}

// While a requester waits for the responder's timer, its own goes on.
TEST_F(Timers, of_the_requester_that_are_shorter_than_the_responders) {
    connect();
    set("client", 33, R"("rnr_retry":7)");
    set("server", 17, R"("min_rnr_timer":0)");
    posts_send(100, 8);
    send(100);
    nak(100, longest_rnr);
    wait(268 * ms);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
receiver-not-ready likely, fatal
  client → server, QP 0x000011
  the responder had no receive posted once, and the requester's ACK timer expired too often while it waited.
  frame 2: RC Acknowledge  PSN 0x000064  RNR NAK, wait 655.36 ms (code 0, the longest)
  client log: wc  wr 1 RETRY_EXC_ERR
  client: rnr_retry 7 (without limit)
  client: timeout 14 is 67.11 ms, retry_cnt 3: 268.44 ms in all
  server: min_rnr_timer 0 (655.36 ms)
  server: 0 receives posted in all
)");
    EXPECT_EQ(first().advice(),
              "Set min_rnr_timer of the responder to a time shorter than all ACK timeouts of the "
              "requester, 268.44 ms, or post receives before the peer sends.");
}

// {RNR NAK, nanoseconds of the run after it, advice}
class RnrAdvice
    : public Timers,
      public testing::WithParamInterface<std::tuple<std::uint8_t, std::int64_t, const char*>> {};

TEST_P(RnrAdvice, is_about_the_timer_that_costs_most_of_the_time) {
    const auto& [syndrome, rest, advice] = GetParam();
    for (std::uint32_t psn = 100; psn < 103; ++psn) {
        send(psn);
        nak(psn, syndrome);
        wait(655 * ms);
        send(psn);
        ack(psn);
    }
    wait(rest);
    send(103);
    ack(103);
    EXPECT_EQ(answered(), "receiver-not-ready certain");
    EXPECT_TRUE(first().advice().starts_with(advice)) << first().advice();
}

INSTANTIATE_TEST_SUITE_P(All, RnrAdvice,
                         testing::Values(std::tuple(longest_rnr, 0, "Set min_rnr_timer"),
                                         std::tuple(longest_rnr, 3 * s, "Post receives"),
                                         std::tuple(syndrome::rnr, 0, "Post receives")));

// It refused the only other request.
TEST_F(Timers, of_a_receiver_are_no_acknowledgement_of_a_smaller_request) {
    send(100, 8);
    nak(100, syndrome::rnr);
    repeat(101, 3, 1000);
    answered();
    EXPECT_TRUE(std::ranges::none_of(last_.causes, [](const explain::Cause& one) {
        return one.code == explain::Code::LargePacketsLost;
    }));
}

}  // namespace explain_test

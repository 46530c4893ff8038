// Timers of both ends: what a requester waits for, and where it does not send again.
#include "trace/explain/account.hpp"

namespace explain_test {

namespace {
constexpr std::uint8_t longest_rnr = 0x20;  // code 0: 655.36 ms
constexpr std::int64_t s = 1000 * ms;
constexpr std::uint8_t uc_first = 0x20, uc_middle = 0x21, uc_last = 0x22;
}  // namespace

class Timers : public Account {
  protected:
    void capture_at_client() {
        explainer_.captured_at(*flow::host_of_gid(gid(2)));
        forgetful_.captured_at(*flow::host_of_gid(gid(2)));
    }
    /// A packet of other hosts, `ns` later.
    void goes_on(std::int64_t ns) {
        wait(ns - 1000);
        add(packet({.from = 5, .to = 6, .qpn = 0x55}, opcode::send_only, 7, 8));
    }
    void set(std::string_view role, int qpn, std::string_view attributes) {
        log(role, R"("event":"qp_state","state":"RTS","qpn":)" + std::to_string(qpn) + ',' +
                      std::string(attributes));
    }
    /// A request whose response comes `response` after it and after a retransmission at `timeout`.
    void answered_after(std::uint32_t psn, std::int64_t timeout, std::int64_t response) {
        send(psn);
        wait(timeout - 1000);
        send(psn);
        wait(response - timeout - 1000);
        ack(psn);
        ack(psn);
    }
};

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

TEST_F(Timers, that_are_too_short_have_an_advice_for_the_slowest_response) {
    connect();
    set("client", 33, R"("timeout":8)");
    answered_after(100, 1'050'000, 3 * ms);
    answered_after(101, 1'050'000, 5 * ms);
    EXPECT_EQ(causes(), R"(
timeout-too-short certain, 2100 us
  client → server, QP 0x000011
  2 requests were retransmitted although both copies arrived: the ACK timeout is shorter than the time until the response arrives.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 3: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
  frame 2: RC SEND Only  PSN 0x000064  8 B  (again after 1.05 ms; timeout 8 is 1.05 ms)
)");
    EXPECT_EQ(first().advice(),
              "Set timeout to 12 (16.78 ms): the first value that leaves twice the time of the "
              "slowest response, 5.00 ms.");
}

// The responses were captured long before the timer expired: how long they take is unknown.
TEST_F(Timers, that_are_long_enough_at_the_capture_have_no_advice_to_set_them) {
    connect();
    for (std::uint32_t psn = 100; psn < 103; ++psn) {
        send(psn);
        ack(psn);
        wait(67 * ms);
        send(psn);
        ack(psn);
    }
    EXPECT_EQ(answered(), "timeout-too-short likely");
    EXPECT_EQ(first().advice(),
              "Use a longer ACK timeout than 67.11 ms, or capture at the requester to see when the "
              "responses arrive.");
}

// The path delivered them.
TEST_F(Timers, that_expire_after_the_response_arrived_are_the_hosts) {
    capture_at_client();
    connect();
    for (std::uint32_t psn = 100; psn < 110; ++psn) {
        send(psn);
        ack(psn);
    }
    send(110);
    ack(110);
    wait(67 * ms);
    send(110);
    ack(110);
    EXPECT_EQ(causes(), R"(
needless-retransmissions possible, 67002 us
  client → server, QP 0x000011
  requests were retransmitted once, and nothing shows that they or their responses were lost: their responses had arrived at the requester's host, which was late to process them.
  frame 21: RC SEND Only  PSN 0x00006e  8 B
  frame 22: RC Acknowledge  PSN 0x00006e  ACK, no flow control by credits
  frame 23: RC SEND Only  PSN 0x00006e  8 B  (again after 67.00 ms; timeout 14 is 67.11 ms)
)");
}

TEST_F(Timers, of_reads_whose_response_arrived_show_no_loss) {
    capture_at_client();
    connect();
    for (int copy = 0; copy < 2; ++copy) {
        add(read(to_server, 100, 8));
        add(packet(to_client, opcode::read_only, 100, 8));
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "needless-retransmissions possible");
}

TEST_F(Timers, of_reads_whose_response_is_missing_show_a_loss) {
    capture_at_client();
    connect();
    add(read(to_server, 100, 1500));
    add(packet(to_client, opcode::read_last, 101, 476));
    wait(67 * ms);
    add(read(to_server, 100, 1500));
    add(packet(to_client, opcode::read_first, 100, 1024));
    add(packet(to_client, opcode::read_last, 101, 476));
    EXPECT_EQ(answered(), "loss likely");
}

TEST_F(Timers, of_requests_that_had_arrived_are_not_the_paths) {
    capture_at_server();
    connect();
    send(100);
    wait(67 * ms);
    send(100);
    ack(100);
    EXPECT_EQ(causes(), R"(
loss possible, 67001 us
  client → server, QP 0x000011
  1 packet was retransmitted, although the first copy had arrived at the responder's host: it dropped it, or it was late to process it.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 3: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
  frame 2: RC SEND Only  PSN 0x000064  8 B  (again after 67.00 ms; timeout 14 is 67.11 ms)
)");
}

// The first packet of a message requires no response: the requester waited for that to the last one,
// which the path lost.
TEST_F(Timers, of_a_message_whose_end_had_not_arrived_are_the_paths) {
    capture_at_server();
    connect();
    for (int copy = 0; copy < 2; ++copy) {
        add(packet(to_server, opcode::send_first, 100, 1024));
        wait(copy == 0 ? 67 * ms : 0);
    }
    send(101);
    ack(101);
    EXPECT_EQ(answered(), "loss likely");
    EXPECT_EQ(first().text, "packets were lost once, and 1 packet was retransmitted.");
}

// The timer of Soft-RoCE may expire soon after the first packet of a message.
TEST_F(Timers, that_expire_early_in_a_message_show_no_loss) {
    capture_at_server();
    connect();
    for (int copy = 0; copy < 2; ++copy) {
        add(packet(to_server, opcode::send_first, 100, 1024));
        wait(copy == 0 ? 5 * ms : 0);
    }
    send(101);
    ack(101);
    answered();
    EXPECT_TRUE(std::ranges::none_of(
        last_.causes, [](const explain::Cause& one) { return one.code == explain::Code::Loss; }));
}

TEST_F(Timers, of_a_message_whose_end_had_arrived_are_the_hosts) {
    capture_at_server();
    connect();
    for (int copy = 0; copy < 2; ++copy) {
        add(packet(to_server, opcode::send_first, 100, 1024));
        send(101);
        wait(copy == 0 ? 67 * ms : 0);
    }
    ack(101);
    EXPECT_EQ(answered(), "loss possible");
}

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

// {messages of 30 packets, of which one loses a packet; fatal}. Few packets break many messages.
class UnreliableMessages : public Timers,
                           public testing::WithParamInterface<std::pair<int, bool>> {};

TEST_P(UnreliableMessages, are_counted_where_packets_are_lost) {
    std::uint32_t psn = 100;
    for (int message = 0; message < GetParam().first; ++message)
        for (int i = 0; i < 30; ++i, ++psn)
            if (message != 1 || i != 5)
                add(packet(to_server, i == 0 ? uc_first : i == 29 ? uc_last : uc_middle, psn, 8));
    EXPECT_EQ(answered(), "loss likely");
    EXPECT_EQ(first().is_fatal, GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, UnreliableMessages,
                         testing::Values(std::pair(50, true), std::pair(200, false)));

}  // namespace explain_test

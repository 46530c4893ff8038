// Datagrams that their receiver misses.
#include "trace/explain/account.hpp"

namespace explain_test {

class LostDatagram : public Account {
  protected:
    void connect_datagrams() {
        make_datagram_pair("server", 1, 0x11);
        make_datagram_pair("client", 2, 0x21);
        for (int i = 0; i < 3; ++i)
            server_posts_receive(100);
    }
    void posts_datagram(std::uint32_t psn) {
        posts("SEND", 8,
              fmt::format(R"(,"dest_qpn":17,"q_key":286331153,"psn_first":{},"psn_last":{})"
                          R"(,"request":{})",
                          psn, psn, psn - 1));
        log("client", fmt::format(R"("event":"wc","qpn":33,"wr_id":1,"queue":"send","request":{},)"
                                  R"("status":"SUCCESS")",
                                  psn - 1));
    }
    void arrives(std::uint32_t psn) { add(datagram({.from = 2, .to = 1, .qpn = 0x11}, 0x21, psn)); }
    /// The server receives the first of two datagrams, and waits.
    void one_of_two_arrives(bool is_captured) {
        posts_datagram(1);
        if (is_captured)
            arrives(1);
        receive_completes("SUCCESS");
        posts_datagram(2);
        wait(2000 * ms);
    }
    void server_ends(std::string_view how) {
        log("server", R"("event":"process_end","pid":1,)" + std::string(how));
    }
};

TEST_F(LostDatagram, that_the_capture_at_the_receiver_lacks) {
    capture_at_server();
    connect_datagrams();
    one_of_two_arrives(true);
    server_ends(R"("signal":15)");
    EXPECT_EQ(causes(), R"(
loss likely, fatal
  client → server, QP 0x000011
  the client's queue pair 0x000021 sent 2 datagrams to the server's queue pair 0x000011, and this received 1, although it had receives for more: 1 packet was lost, and the transport does not retransmit datagrams.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000002 to 0x000002
  frame 1: UD SEND Only  PSN 0x000001  8 B
  server: 3 receives posted, 1 completed
)");
}

TEST_F(LostDatagram, that_the_capture_at_the_receiver_has_was_not_polled) {
    capture_at_server();
    connect_datagrams();
    one_of_two_arrives(true);
    arrives(2);
    server_ends(R"("signal":15)");
    EXPECT_EQ(answered(), "none");
}

TEST_F(LostDatagram, that_is_not_the_last_one_is_no_failure) {
    capture_at_server();
    connect_datagrams();
    posts_datagram(1);
    posts_datagram(2);
    arrives(2);
    receive_completes("SUCCESS");
    wait(2000 * ms);
    server_ends(R"("exit_status":0)");
    EXPECT_EQ(answered(), "loss likely");
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(LostDatagram, of_two_logs_without_a_capture) {
    connect_datagrams();
    one_of_two_arrives(false);
    server_ends(R"("signal":15)");
    EXPECT_EQ(answered(), "loss possible");
    EXPECT_FALSE(first().is_fatal);
}

// It may have ended without a poll for the completion.
TEST_F(LostDatagram, of_a_receiver_that_ended_by_itself_is_unknown) {
    connect_datagrams();
    one_of_two_arrives(false);
    server_ends(R"("exit_status":0)");
    EXPECT_EQ(answered(), "none");
}

TEST_F(LostDatagram, that_was_sent_just_before_the_end_may_have_arrived) {
    capture_at_server();
    connect_datagrams();
    posts_datagram(1);
    wait(900 * ms);
    server_ends(R"("signal":15)");
    EXPECT_EQ(answered(), "none");
}

// It arrived with a wrong ICRC: that is no loss, and the reason why the receiver waits.
TEST_F(LostDatagram, that_arrived_damaged_is_not_lost) {
    capture_at_server();
    connect_datagrams();
    one_of_two_arrives(true);
    auto frame = wire::encode(datagram({.from = 2, .to = 1, .qpn = 0x11}, 0x21, 2));
    frame.back() ^= std::byte{0xff};
    add(frame);
    server_ends(R"("signal":15)");
    EXPECT_EQ(answered(), "corruption certain");
    EXPECT_TRUE(first().is_fatal);
    EXPECT_EQ(last_.causes.size(), 1U);
}

// The second of two datagrams, of which the receiver got one. There is no capture.
struct Second {
    const char* name;
    int dest_qpn;
    std::uint32_t q_key;
    bool is_completed;
    int receives;
    const char* incomplete;  // the role of a log that lacks events
    const char* expected;
};

class SecondDatagram : public LostDatagram, public testing::WithParamInterface<Second> {};

TEST_P(SecondDatagram, is_lost_if_both_logs_show_that_it_could_be_received) {
    const Second& second = GetParam();
    make_datagram_pair("server", 1, 0x11);
    make_datagram_pair("client", 2, 0x21);
    for (int i = 0; i < second.receives; ++i)
        server_posts_receive(100);
    posts_datagram(1);
    receive_completes("SUCCESS");
    posts("SEND", 8,
          fmt::format(R"(,"dest_qpn":{},"q_key":{},"psn_first":2,"psn_last":2,"request":1)",
                      second.dest_qpn, second.q_key));
    if (second.is_completed)
        log("client",
            R"("event":"wc","qpn":33,"wr_id":1,"queue":"send","request":1,"status":"SUCCESS")");
    if (*second.incomplete != 0)
        log(second.incomplete, R"("event":"dropped","count":1)");
    wait(2000 * ms);
    server_ends(R"("signal":15)");
    EXPECT_EQ(answered(), second.expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, SecondDatagram,
    testing::Values(
        Second{"as_the_first", 17, 0x11111111, true, 2, "", "loss possible"},
        Second{"to_another_queue_pair", 18, 0x11111111, true, 2, "", "none"},
        Second{"with_another_q_key", 17, 0x11111112, true, 2, "", "none"},
        Second{"without_a_completion", 17, 0x11111111, false, 2, "", "none"},
        Second{"without_a_receive", 17, 0x11111111, true, 1, "", "none"},
        Second{"by_an_incomplete_log_of_the_sender", 17, 0x11111111, true, 2, "client", "none"},
        Second{"by_an_incomplete_log_of_the_receiver", 17, 0x11111111, true, 2, "server", "none"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace explain_test

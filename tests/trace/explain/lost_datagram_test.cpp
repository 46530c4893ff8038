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

}  // namespace explain_test

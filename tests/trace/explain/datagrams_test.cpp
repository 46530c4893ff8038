// Datagrams that their receiver drops.
#include "trace/explain/account.hpp"

namespace explain_test {

class Datagram : public Account {
  protected:
    std::uint64_t sends(std::uint32_t qpn = 0x11) {
        return add(datagram({.from = 2, .to = 1, .qpn = qpn}, 0x21, 1));
    }
};

TEST_F(Datagram, to_a_queue_pair_that_the_receiver_does_not_have) {
    make_datagram_pair("server", 1, 0x11);
    sends(0x12);
    EXPECT_EQ(causes(), R"(
wrong-qpn certain, fatal
  192.0.2.2 → server, QP 0x000012
  the server has no queue pair 0x000012.
  frame 1: UD SEND Only  PSN 0x000001  8 B
)");
}

TEST_F(Datagram, to_a_queue_pair_that_a_log_with_missing_events_lacks) {
    make_datagram_pair("server", 1, 0x11);
    log("server", R"("event":"dropped","records":12)");
    sends(0x12);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, to_a_receiver_without_a_log) {
    sends();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, that_was_posted_and_not_captured_shows_no_wrong_queue_pair) {
    make_datagram_pair("server", 1, 0x11);
    make_datagram_pair("client", 2, 0x21);
    posts("SEND", 8, R"(,"dest_qpn":18)");
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, to_a_multicast_group_has_no_queue_pair) {
    make_datagram_pair("server", 1, 0x11);
    sends(0xffffff);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, with_another_q_key) {
    make_datagram_pair("server", 1, 0x11, R"(,"q_key":286331154)");
    sends();
    sends();
    EXPECT_EQ(causes(), R"(
wrong-qkey certain, fatal
  192.0.2.2 → server, QP 0x000011
  the datagrams have Q_Key 0x11111111, but the server's queue pair 0x000011 has 0x11111112: it drops them.
  frame 1: UD SEND Only  PSN 0x000001  8 B
  server: q_key 0x11111112
)");
}

TEST_F(Datagram, with_the_q_key_of_its_receiver) {
    make_datagram_pair("server", 1, 0x11);
    sends();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, with_a_q_key_that_cannot_be_compared) {
    make_datagram_pair("server", 1, 0x11, "");
    sends();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, is_the_only_kind_of_packet_that_is_examined) {
    make_datagram_pair("server", 1, 0x11);
    add(packet(to_server, opcode::send_only, 100, 8));
    ack(100);
    EXPECT_EQ(answered(), "none");
}

}  // namespace explain_test

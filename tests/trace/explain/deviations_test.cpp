// What the check finds in the packets is a cause, except where a missing packet may explain it.
#include <array>

#include "trace/explain/account.hpp"

namespace explain_test {

class DeviationsFound : public Account {
  protected:
    std::uint64_t send_other(std::uint32_t psn) {
        static constexpr std::array<std::byte, 8> other{std::byte{1}};
        auto made = packet(to_server, opcode::send_only, psn, other.size());
        made.bth->a = true;
        made.payload = other;
        return add(made);
    }
};

TEST_F(DeviationsFound, a_request_has_the_psn_of_another) {
    connect();
    send(100);
    ack(100);
    add(flow_test::read(to_server, 101, 8));
    send(101);
    EXPECT_EQ(causes(), R"(
deviation likely
  client → server, QP 0x000011
  the client deviates from the specification (IBTA volume 1, 9.7.3): PSN 0x000065 retransmitted with other contents than the first time.
  frame 3: RC RDMA READ Request  PSN 0x000065  va 0x1000 rkey 0x00000077, 8 B
  frame 4: RC SEND Only  PSN 0x000065  8 B
)");
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(DeviationsFound, a_program_changes_a_buffer_that_is_sent_again) {
    connect();
    for (std::uint32_t psn = 100; psn < 102; ++psn) {
        send(psn);
        nak(psn, syndrome::rnr);
        wait(ms);
        send_other(psn);
        ack(psn);
    }
    EXPECT_NE(causes().find(R"(
buffer-reused likely
  client → server, QP 0x000011
  PSN 0x000064 retransmitted with another payload: its buffer was written before the request completed (2 times).
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 3: RC SEND Only  PSN 0x000064  8 B
)"),
              std::string::npos)
        << causes();
}

// The path loses a packet, and the copy has other data: a loss is repaired, the data are not.
TEST_F(DeviationsFound, a_changed_buffer_comes_before_the_loss_that_shows_it) {
    send(100);
    ack(100);
    send(102);
    nak(101, 0x60);  // PSN Sequence Error
    wait(20 * ms);
    send(101);
    send_other(102);
    ack(102);
    EXPECT_EQ(answered(), "buffer-reused likely");
    EXPECT_NE(causes().find("\nloss "), std::string::npos) << causes();
}

TEST_F(DeviationsFound, a_queue_pair_that_was_reset_begins_with_another_psn) {
    for (const std::uint32_t psn : {9'000'000U, 100U}) {
        for (std::uint32_t i = 0; i < 4; ++i) {
            send(psn + i);
            ack(psn + i);
        }
    }
    EXPECT_EQ(causes().find("deviation"), std::string::npos) << causes();
}

TEST_F(DeviationsFound, a_damaged_packet_is_not_compared) {
    connect();
    for (std::uint32_t psn = 96; psn < 100; ++psn) {
        send(psn);
        ack(psn);
    }
    auto frame = wire::encode(packet(to_server, opcode::send_only, 100, 8));
    frame[frame.size() - 5] ^= std::byte{0xff};  // its last byte of payload
    add(frame);
    wait(67 * ms);
    send(100);
    ack(100);
    EXPECT_EQ(causes().find("buffer-reused"), std::string::npos) << causes();
}

TEST_F(DeviationsFound, a_cut_packet_is_not_compared) {
    connect();
    const auto frame = wire::encode(packet(to_server, opcode::send_only, 100, 64));
    send(100, 64);
    wait(67 * ms);
    add(frame, frame.size() - 32);
    EXPECT_EQ(causes().find("buffer-reused"), std::string::npos);
}

TEST_F(DeviationsFound, a_packet_without_its_last_headers_is_not_compared) {
    connect();
    auto made = packet(to_server, opcode::write_only, 100, 64);
    made.reth = wire::Reth{.va = 0x1000, .rkey = 7, .dmalen = 64};
    const auto frame = wire::encode(made);
    const std::size_t without_reth = 60;
    add(frame);
    wait(67 * ms);
    add(frame, without_reth);
    add(frame, without_reth);
    EXPECT_EQ(causes().find("other contents"), std::string::npos);
}

TEST_F(DeviationsFound, a_read_without_data_while_later_requests_are_acknowledged) {
    add(flow_test::read(to_server, 100, 8));
    send(101);
    ack(101);
    EXPECT_EQ(answered(), "deviation possible");
    EXPECT_TRUE(shows_frame(1));
}

// The capture dropped a request, which the responder has.
// That the acknowledged request is sent again explains nothing about the READ, which comes first.
TEST_F(DeviationsFound, a_read_without_data_comes_before_a_late_response) {
    send(100);
    ack(100);
    add(flow_test::read(to_server, 101, 8));
    send(102);
    ack(102);
    wait(20 * ms);
    send(102);
    EXPECT_EQ(answered(), "deviation possible");
    ASSERT_EQ(last_.causes.size(), 2U);
    EXPECT_EQ(last_.causes[1].code, explain::Code::NeedlessRetransmissions);
}

TEST_F(DeviationsFound, an_ack_of_a_request_that_was_not_captured) {
    send(100);
    ack(100);
    send(102);
    ack(102);
    send(103);
    ack(103);
    EXPECT_EQ(causes(), R"(
incomplete-capture likely
  192.0.2.2 → 192.0.2.1, QP 0x000011
  the request with PSN 0x000065 was acknowledged, but not captured: the capture lacks packets, or another host sent the ACK.
  frame 4: RC Acknowledge  PSN 0x000066  ACK, no flow control by credits
)");
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(DeviationsFound, an_ack_of_the_last_request_that_was_not_captured) {
    send(100);
    ack(100);
    ack(101);
    EXPECT_EQ(answered(), "incomplete-capture likely");
}

// The requester's log tells whether there was a request.
TEST_F(DeviationsFound, an_ack_of_a_request_that_was_not_posted) {
    connect();
    posts_send(100, 8);
    send(100);
    ack(100);
    ack(101);
    EXPECT_EQ(answered(), "deviation likely");
}

TEST_F(DeviationsFound, an_ack_of_a_request_that_was_posted_and_not_captured) {
    connect();
    posts_send(100, 8);
    posts_send(101, 8);
    send(100);
    ack(100);
    ack(101);
    EXPECT_EQ(answered(), "incomplete-capture likely");
}

// All requests were captured, and one of them after its ACK: a mirror's two directions may take different
// times, but not tens of milliseconds.
TEST_F(DeviationsFound, an_ack_of_a_request_that_comes_much_later) {
    send(100);
    ack(101);
    wait(20 * ms);
    send(101);
    ack(101);
    EXPECT_EQ(answered(), "deviation likely");
}

TEST_F(DeviationsFound, an_ack_that_was_recorded_before_its_request_is_none) {
    send(100);
    ack(101);
    send(101);
    EXPECT_EQ(answered(), "none");
}

TEST_F(DeviationsFound, timers_are_not_reported) {
    connect();
    send(100);
    wait(10 * ms);
    send(100);
    ack(100);
    EXPECT_EQ(causes().find("deviation"), std::string::npos);
}

}  // namespace explain_test

// Packets that came twice, and PSNs that jump.
#include "trace/explain/account.hpp"

namespace explain_test {

class Copies : public Account {
  protected:
    void works(std::uint32_t psn) {
        send(psn);
        ack(psn);
    }
    void expect_order() {
        for (const explain::Cause& cause : explained().causes)
            EXPECT_NE(cause.code, explain::Code::Reordering) << cause.text;
    }
    // From another host, or changed on the path.
    void stray(std::uint32_t psn = 0x800000) { send(psn); }
};

TEST_F(Copies, of_single_packets) {
    connect();
    send(100);
    works(100);
    send(101);
    works(101);
    EXPECT_EQ(causes(), R"(
needless-retransmissions likely
  client → server, QP 0x000011
  2 request packets arrived a second time, so soon that no timer can have sent them: something on the path duplicates packets, or the capture records them twice.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 2: RC SEND Only  PSN 0x000064  8 B  (again after 1 us; timeout 14 is 67.11 ms)
)");
}

// {IPv4 identification of the second copies, nanoseconds between them, expected}. A timer sends a new
// packet, and the path copies the one that it has.
class Identification
    : public Copies,
      public testing::WithParamInterface<std::tuple<std::uint16_t, std::int64_t, std::string>> {};

TEST_P(Identification, tells_a_copy_from_a_retransmission) {
    const auto& [second, distance, expected] = GetParam();
    connect();
    std::uint16_t id = 500;
    for (std::uint32_t psn = 100; psn < 104; ++psn, ++id)
        for (const std::uint16_t one : {id, static_cast<std::uint16_t>(id + second)}) {
            auto made = packet(to_server, opcode::send_only, psn, 8);
            made.bth->a = true;
            made.ipv4->id = one;
            add(made);
            ack(psn);
            if (one == id)
                wait(distance);
        }
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, Identification,
                         testing::Values(std::tuple(0, 0, "needless-retransmissions likely"),
                                         std::tuple(0, 5 * ms, "needless-retransmissions likely"),
                                         std::tuple(0, 68 * ms, "needless-retransmissions likely"),
                                         std::tuple(1000, 0, "none"),
                                         std::tuple(1000, 5 * ms, "none"),
                                         std::tuple(1000, 68 * ms, "timeout-too-short likely")));

// {nanoseconds between the copies, expected}
class SecondCopy : public Copies,
                   public testing::WithParamInterface<std::pair<std::int64_t, const char*>> {};

TEST_P(SecondCopy, is_too_soon_for_a_timer) {
    connect();
    for (std::uint32_t psn = 100; psn < 102; ++psn) {
        send(psn);
        wait(GetParam().first - 1000);
        works(psn);
    }
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, SecondCopy,
                         testing::Values(std::pair(199'999, "needless-retransmissions likely"),
                                         std::pair(200'000, "none"), std::pair(33'554'431, "none"),
                                         std::pair(33'554'432, "loss likely")));

// A new sequence of PSNs, as after a reconnection.
TEST_F(Copies, are_not_missing_behind_a_jump_of_psns) {
    for (const std::uint32_t psn : {100U, 101U + 65537, 102U + 65537})
        add(packet(to_server, opcode::uc_send_only, psn, 8));
    EXPECT_EQ(answered(), "none");
}

TEST_F(Copies, are_missing_in_the_longest_gap) {
    for (const std::uint32_t psn : {100U, 101U + 65536})
        add(packet(to_server, opcode::uc_send_only, psn, 8));
    EXPECT_EQ(causes(), R"(
loss likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  65536 packets are missing: the transport does not retransmit packets.
  frame 1: UC SEND Only  PSN 0x000064  8 B
  frame 2: UC SEND Only  PSN 0x010065  8 B
)");
}

TEST_F(Copies, are_not_missing_behind_a_jump_back) {
    for (const std::uint32_t psn : {100'000U, 100'001U - 65537, 100'002U - 65537})
        add(packet(to_server, opcode::uc_send_only, psn, 8));
    EXPECT_EQ(answered(), "none");
}

// Without the sequence from before it, no retransmission behind it would be one.
TEST_F(Copies, of_a_stray_packet_end_no_sequence) {
    connect();
    works(100);
    send(101);
    stray();
    send(103);
    nak(102, syndrome::psn_error);
    stray(0x900000);
    send(102);
    send(103);
    ack(103);
    EXPECT_EQ(causes(), R"(
loss likely, 3 us
  client → server, QP 0x000011
  packets were lost once, and 2 packets were retransmitted.
  frame 5: RC SEND Only  PSN 0x000067  8 B
  frame 6: RC Acknowledge  PSN 0x000066  NAK: PSN Sequence Error
  frame 8: RC SEND Only  PSN 0x000066  8 B  (again)
)");
}

// The responses belong to the sequence that they acknowledge.
TEST_F(Copies, of_a_request_whose_response_came_behind_a_stray_packet) {
    connect();
    works(100);
    send(101);
    stray();
    ack(101);
    wait(67 * ms);
    send(101);
    ack(101);
    EXPECT_EQ(answered(), "needless-retransmissions possible");
}

// The responder asks for a packet because of a changed one, before the next one is captured.
TEST_F(Copies, that_were_asked_for_before_their_gap_shows_were_lost) {
    connect();
    works(100);
    stray();
    nak(101, syndrome::psn_error);
    send(102);
    send(101);
    send(102);
    ack(102);
    EXPECT_EQ(answered(), "loss likely");
}

// It was captured with a wrong ICRC, so it was not on its way when it was asked for.
TEST_F(Copies, of_a_damaged_packet_overtook_nothing) {
    connect();
    works(100);
    for (int copy = 0; copy < 2; ++copy)
        broken_send(101);
    send(102);
    nak(101, syndrome::psn_error);
    send(101);
    wait(2 * ms);
    send(101);
    send(102);
    ack(102);
    expect_order();
}

TEST_F(Copies, of_a_damaged_packet_that_nobody_asked_for_overtook_nothing) {
    connect();
    works(100);
    broken_send(101);
    send(102);
    send(101);
    send(102);
    ack(102);
    expect_order();
}

// The first request that the capture has is behind a lost one.
TEST_F(Copies, of_a_packet_before_the_first_one_were_asked_for) {
    connect();
    send(101);
    nak(100, syndrome::psn_error);
    send(100);
    send(101);
    ack(101);
    EXPECT_EQ(answered(), "loss likely");
}

// The responder asked for it, and acknowledged it before it was sent again.
TEST_F(Copies, of_the_packets_behind_an_overtaken_one) {
    connect();
    works(100);
    send(101);
    send(102);
    nak(101, syndrome::psn_error);
    ack(101);
    send(102);
    ack(102);
    EXPECT_EQ(causes(), R"(
reordering likely, 4 us
  client → server, QP 0x000011
  packets arrived out of order once.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 5: RC Acknowledge  PSN 0x000065  NAK: PSN Sequence Error
  frame 7: RC SEND Only  PSN 0x000066  8 B  (again)
)");
}

// It is not acknowledged, so it was lost, and the copy behind it belongs to something else.
TEST_F(Copies, of_the_packets_behind_a_missing_one_show_no_order) {
    connect();
    works(100);
    send(101);
    send(102);
    nak(101, syndrome::psn_error);
    send(102);
    expect_order();
}

}  // namespace explain_test

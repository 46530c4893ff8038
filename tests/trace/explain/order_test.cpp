// Packets out of order, marks of congestion, and receivers that are not ready.
#include "trace/explain/account.hpp"

namespace explain_test {

class PathPackets : public Account {
  protected:
    void unreliable(std::uint32_t psn) { add(packet(to_server, opcode::uc_send_only, psn, 8)); }
    std::uint64_t marked(std::uint32_t psn) {
        auto made = packet(to_server, opcode::send_only, psn, 8);
        made.ipv4->dsfield |= 3;
        return add(made);
    }
    /// A congestion notification packet (CNP).
    std::uint64_t notification() {
        auto made = packet(to_client, 0x81, 0);
        made.payload = {};
        return add(made);
    }
};

TEST_F(PathPackets, out_of_order) {
    connect();
    send(100);
    send(102);
    wait(1 * ms);
    send(101);
    ack(102);
    EXPECT_EQ(causes(), R"(
reordering likely, 1001 us
  client → server, QP 0x000011
  packets arrived out of order once.
  frame 2: RC SEND Only  PSN 0x000066  8 B
  frame 3: RC SEND Only  PSN 0x000065  8 B  (late)
)");
}

// {nanoseconds until the packet that was missing, expected}
class LatePacket : public PathPackets,
                   public testing::WithParamInterface<std::pair<std::int64_t, const char*>> {};

TEST_P(LatePacket, was_overtaken_or_lost) {
    connect();
    send(100);
    send(102);
    wait(GetParam().first - 1000);
    send(101);
    ack(102);
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, LatePacket,
                         testing::Values(std::pair(10 * ms - 1, "reordering likely"),
                                         std::pair(10 * ms, "loss likely")));

// {IPv4 identification of the late packet, expected}. The sender counts its packets. The late one comes after
// the NAK that asks for it, and takes longer than most: only its number shows when it was sent.
class NumberedPacket : public PathPackets,
                       public testing::WithParamInterface<std::pair<std::uint16_t, const char*>> {
  protected:
    void numbered(std::uint32_t psn, std::uint16_t id) {
        auto made = packet(to_server, opcode::send_only, psn, 8);
        made.bth->a = true;
        made.ipv4->id = id;
        add(made);
    }
    void send_numbered(std::uint32_t psn, std::uint16_t id, int count) {
        for (int i = 0; i < count; ++i) {
            numbered(psn, id++);
            ack(psn++);
        }
    }
};

TEST_P(NumberedPacket, was_overtaken_if_it_was_sent_first) {
    connect();
    send_numbered(100, 0xfff8, 10);
    numbered(111, 3);
    nak(110, 0x60);
    wait(20 * ms);
    numbered(110, GetParam().first);
    ack(111);
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, NumberedPacket,
                         testing::Values(std::pair(2, "reordering likely"),
                                         std::pair(4, "loss likely"), std::pair(0, "loss likely")));

// The original comes behind the retransmission that was asked for, and tells when it was sent.
TEST_P(NumberedPacket, was_overtaken_if_it_comes_behind_its_retransmission) {
    connect();
    send_numbered(100, 0xfff8, 10);
    numbered(111, 3);
    nak(110, 0x60);
    numbered(110, 4);
    numbered(111, 5);
    ack(111);
    wait(20 * ms);
    numbered(110, GetParam().first);
    ack(111);
    EXPECT_EQ(answered(), GetParam().second);
}

TEST_F(PathPackets, that_are_missing_from_an_unreliable_connection) {
    for (const std::uint32_t psn : {100U, 103U, 104U, 106U, 108U})
        unreliable(psn);
    EXPECT_EQ(causes(), R"(
loss likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  4 packets are missing: the transport does not retransmit packets.
  frame 1: UC SEND Only  PSN 0x000064  8 B
  frame 2: UC SEND Only  PSN 0x000067  8 B
  frame 3: UC SEND Only  PSN 0x000068  8 B
  frame 4: UC SEND Only  PSN 0x00006a  8 B
)");
}

TEST_F(PathPackets, that_are_missing_and_late_in_an_unreliable_connection) {
    for (const std::uint32_t psn : {100U, 103U, 101U, 104U})
        unreliable(psn);
    answered();
    EXPECT_EQ(first().text, "1 packet is missing: the transport does not retransmit packets.");
    unreliable(101);
    answered();
    EXPECT_EQ(first().text, "1 packet is missing: the transport does not retransmit packets.");
}

TEST_F(PathPackets, that_only_the_capture_has_out_of_order) {
    unreliable(100);
    unreliable(103);
    wait(-5000);
    unreliable(101);
    unreliable(102);
    unreliable(104);
    EXPECT_EQ(answered(), "none");
    unreliable(106);
    unreliable(105);
    EXPECT_EQ(causes(), R"(
reordering likely, 1 us
  192.0.2.2 → 192.0.2.1, QP 0x000011
  packets arrived out of order once.
  frame 6: UC SEND Only  PSN 0x00006a  8 B
  frame 7: UC SEND Only  PSN 0x000069  8 B  (late)
)");
}

TEST_F(PathPackets, that_are_late_in_an_unreliable_connection) {
    for (const std::uint32_t psn : {100U, 103U, 101U, 102U, 104U})
        unreliable(psn);
    EXPECT_EQ(causes(), R"(
reordering likely, 1 us
  192.0.2.2 → 192.0.2.1, QP 0x000011
  packets arrived out of order 2 times.
  frame 2: UC SEND Only  PSN 0x000067  8 B
  frame 3: UC SEND Only  PSN 0x000065  8 B  (late)
)");
}

TEST_F(PathPackets, that_are_late_twice_fill_their_gap_once) {
    connect();
    send(100);
    send(102);
    wait(1 * ms);
    send(101);
    wait(1 * ms);
    send(101);
    ack(102);
    answered();
    EXPECT_EQ(first().text, "packets arrived out of order once.");
    EXPECT_EQ(last_.causes.size(), 1U);
}

TEST_F(PathPackets, with_marks_of_congestion_and_notifications) {
    connect();
    send(100);
    marked(101);
    marked(102);
    ack(102);
    notification();
    notification();
    EXPECT_EQ(causes(), R"(
congestion certain
  2 packets carry congestion marks (ECN), and 2 CNPs were sent.
  frame 2: RC SEND Only  PSN 0x000065  8 B
  frame 5: CNP
)");
    EXPECT_EQ(last_.packets, 6U);
}

TEST_F(PathPackets, with_marks_of_congestion_and_no_notification) {
    connect();
    marked(100);
    ack(100);
    EXPECT_EQ(causes(), R"(
congestion certain
  1 packet carries congestion marks (ECN), and 0 CNPs were sent: the receiver does not notify the sender.
  frame 1: RC SEND Only  PSN 0x000064  8 B
)");
    EXPECT_EQ(first().try_this,
              "Let the receiver's adapter send CNPs (DCQCN, ECN for RoCE); Soft-RoCE sends none. "
              "Look for the congested link.");
}

TEST_F(PathPackets, that_are_notifications_only) {
    notification();
    EXPECT_EQ(causes(), R"(
congestion certain
  0 packets carry congestion marks (ECN), and 1 CNP was sent.
  frame 1: CNP
)");
    EXPECT_EQ(last_.connections, 0U);
}

TEST_F(PathPackets, with_marks_of_congestion_in_ipv6) {
    Way way = to_server;
    way.network = wire_test::Network::Ipv6;
    auto made = packet(way, opcode::send_only, 100, 8);
    made.ipv6->tclass |= 3;
    add(made);
    EXPECT_EQ(answered(), "congestion certain");
}

TEST_F(PathPackets, to_a_receiver_that_is_not_ready) {
    connect();
    server_posts_receive(16);
    posts_send(100, 8);
    for (int copy = 0; copy < 3; ++copy) {
        send(100);
        nak(100, syndrome::rnr);
        wait(1 * ms);
    }
    send(100);
    ack(100);
    EXPECT_EQ(causes(), R"(
receiver-not-ready certain, 3006 us
  client → server, QP 0x000011
  the responder had no receive posted 3 times.
  frame 2: RC Acknowledge  PSN 0x000064  RNR NAK, wait 0.64 ms
  frame 6: RC Acknowledge  PSN 0x000064  RNR NAK, wait 0.64 ms
  client: rnr_retry 3
  server: 1 receive posted in all
)");
}

TEST_F(PathPackets, to_a_receiver_that_is_never_ready) {
    connect();
    posts_send(100, 8);
    send(100);
    nak(100, syndrome::rnr);
    completes("RNR_RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
receiver-not-ready certain, fatal
  client → server, QP 0x000011
  the responder had no receive posted once, and the requester gave up.
  frame 2: RC Acknowledge  PSN 0x000064  RNR NAK, wait 0.64 ms
  client log: wc  wr 1 RNR_RETRY_EXC_ERR
  client: rnr_retry 3
  server: 0 receives posted in all
)");
}

TEST_F(PathPackets, to_a_receiver_that_is_never_ready_by_the_log_alone) {
    make("client", client());
    ready("client", client());
    posts_send(100, 8);
    completes("RNR_RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
receiver-not-ready certain, fatal
  client → 192.0.2.1, QP 0x000011
  the responder had no receive posted until the requester gave up.
  client log: wc  wr 1 RNR_RETRY_EXC_ERR
  client: rnr_retry 3
)");
}

// {nanoseconds until the last request, expected}. The receiver was not ready for 1 ms: this is no
// cause if the requests took more than 20 times as long.
class NotReady : public PathPackets,
                 public testing::WithParamInterface<std::pair<std::int64_t, const char*>> {};

TEST_P(NotReady, is_no_cause_if_little_time_was_lost) {
    connect();
    send(100);
    nak(100, syndrome::rnr);
    wait(1 * ms - 2000);
    send(100);
    ack(100);
    wait(GetParam().first - 1 * ms - 2000);
    send(101);
    ack(101);
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, NotReady,
                         testing::Values(std::pair(20 * ms, "receiver-not-ready certain"),
                                         std::pair(20 * ms + 1, "none")));

TEST_F(PathPackets, to_a_receiver_that_is_not_ready_three_times_however_long_the_run) {
    connect();
    for (int copy = 0; copy < 3; ++copy) {
        send(100);
        nak(100, syndrome::rnr);
    }
    send(100);
    ack(100);
    wait(1000 * ms);
    send(101);
    ack(101);
    EXPECT_EQ(answered(), "receiver-not-ready certain");
}

// The capture may have ended before the requester sent again.
TEST_F(PathPackets, that_end_with_a_receiver_that_is_not_ready) {
    send(100);
    nak(100, syndrome::rnr);
    EXPECT_EQ(causes(), R"(
receiver-not-ready certain
  192.0.2.2 → 192.0.2.1, QP 0x000011
  the responder had no receive posted once, and the capture has no request after that.
  frame 2: RC Acknowledge  PSN 0x000064  RNR NAK, wait 0.64 ms
)");
}

// The packets behind them came one after the other, and no NAK had asked for them: a requester that goes back
// would have sent all again.
TEST_F(PathPackets, missing_packets_among_new_ones_were_overtaken) {
    connect();
    for (const std::uint32_t psn : {100U, 102U, 104U})
        send(psn);
    wait(40 * ms);
    for (const std::uint32_t psn : {105U, 101U, 103U, 106U})
        send(psn);
    nak(101, syndrome::psn_error);
    for (std::uint32_t psn = 101; psn < 108; ++psn)
        send(psn);
    ack(107);
    EXPECT_EQ(answered(), "reordering likely");
    EXPECT_EQ(first().text, "packets arrived out of order 2 times.");
    EXPECT_EQ(last_.causes.size(), 1U);
}

// {nanoseconds until the missing packet, PSN after it, expected}
using AmongNew = std::tuple<std::int64_t, std::uint32_t, const char*>;
class MissingPacket : public PathPackets, public testing::WithParamInterface<AmongNew> {};

TEST_P(MissingPacket, among_new_ones) {
    const auto& [late, next, expected] = GetParam();
    connect();
    for (const std::uint32_t psn : {100U, 102U})
        send(psn);
    wait(late - 1000);
    send(101);
    send(next);
    ack(103);
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, MissingPacket,
                         testing::Values(AmongNew(60 * ms - 1, 103, "reordering likely"),
                                         AmongNew(60 * ms, 103, "loss likely"),
                                         AmongNew(40 * ms, 102, "loss likely")));

}  // namespace explain_test

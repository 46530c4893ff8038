// ACK timers that expire: because of the path, because of a host, or because they are too short.
#include "trace/explain/timers_fixture.hpp"

namespace explain_test {

namespace {
constexpr std::uint8_t uc_first = 0x20, uc_middle = 0x21, uc_last = 0x22;
}  // namespace

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
  a request was retransmitted, although the requester's host had the response: it was late to process it.
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

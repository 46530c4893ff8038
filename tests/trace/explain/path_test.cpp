// Packets that the path loses, reorders, repeats, damages or marks.
#include "trace/explain/path_fixture.hpp"

namespace explain_test {

TEST_F(PathOf, a_connection_that_works_is_not_blamed) {
    connect();
    for (std::uint32_t psn = 100; psn < 110; ++psn) {
        send(psn);
        ack(psn);
    }
    EXPECT_EQ(answered(), "none");
    EXPECT_FALSE(last_.has_failed);
}

// The requester requests only the missing part, which shows that some packets of the response
// arrived.
TEST_F(PathOf, responses_of_reads_that_are_lost_behind_the_capture) {
    connect();
    for (std::uint32_t psn = 100; psn < 112; psn += 3) {
        add(read(to_server, psn, 2500));
        add(packet(to_client, opcode::read_first, psn, 1024));
        add(packet(to_client, opcode::read_middle, psn + 1, 1024));
        add(packet(to_client, opcode::read_last, psn + 2, 452));
        wait(30 * ms);
        add(read(to_server, psn + 1, 1476));
        add(packet(to_client, opcode::read_first, psn + 1, 1024));
        add(packet(to_client, opcode::read_last, psn + 2, 452));
    }
    EXPECT_EQ(answered(), "loss likely");
}

TEST_F(PathOf, a_lost_packet_before_the_capture) {
    connect();
    send(100);
    const std::uint64_t after = send(102);
    nak(101, syndrome::psn_error);
    const std::uint64_t again = send(101);
    send(102);
    ack(102);
    EXPECT_EQ(answered(), "loss likely");
    EXPECT_FALSE(first().is_fatal);
    EXPECT_TRUE(shows_frame(after));
    EXPECT_TRUE(shows_frame(again));
}

TEST_F(PathOf, a_lost_packet_behind_the_capture) {
    connect();
    send(100);
    wait(67 * ms);
    send(100);
    ack(100);
    EXPECT_EQ(answered(), "loss likely");
}

TEST_F(PathOf, packets_out_of_order) {
    connect();
    send(100);
    send(102);
    nak(101, syndrome::psn_error);
    send(101);
    send(101);
    send(102);
    ack(102);
    EXPECT_EQ(answered(), "reordering likely");
}

// UC does not retransmit: a late packet was overtaken.
TEST_F(PathOf, an_unreliable_connection_out_of_order) {
    for (const std::uint32_t psn : {100U, 102U, 101U, 103U})
        add(packet(to_server, opcode::uc_send_only, psn, 8));
    EXPECT_EQ(answered(), "reordering likely");
}

TEST_F(PathOf, an_unreliable_connection_on_which_a_packet_is_overtaken_for_long) {
    for (const std::uint32_t psn : {100U, 102U})
        add(packet(to_server, opcode::uc_send_only, psn, 8));
    wait(2000 * ms);
    add(packet(to_server, opcode::uc_send_only, 101, 8));
    EXPECT_EQ(answered(), "reordering likely");
    EXPECT_TRUE(shows_frame(1));
    EXPECT_TRUE(shows_frame(2));
    EXPECT_TRUE(shows_frame(3));
}

TEST_F(PathOf, an_unreliable_connection_that_loses) {
    for (const std::uint32_t psn : {100U, 102U, 103U})
        add(packet(to_server, opcode::uc_send_only, psn, 8));
    EXPECT_EQ(answered(), "loss likely");
}

TEST_F(PathOf, packets_that_come_twice) {
    connect();
    for (std::uint32_t psn = 100; psn < 102; ++psn) {
        send(psn);
        send(psn);
        ack(psn);
        ack(psn);
    }
    EXPECT_EQ(answered(), "needless-retransmissions likely");
}

// Soft-RoCE's timer expires just after a request was sent: copies have the distance of the timeout.
TEST_F(PathOf, packets_that_a_running_timer_sends_twice_is_no_cause) {
    connect();
    for (std::uint32_t psn = 100; psn < 103; ++psn) {
        send(psn);
        send(psn);
        ack(psn);
        ack(psn);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "none");
}

TEST_F(PathOf, packets_that_come_twice_and_late) {
    connect();
    for (std::uint32_t psn = 100; psn < 104; ++psn) {
        send(psn);
        send(psn);
        ack(psn);
        ack(psn);
    }
    for (std::uint32_t psn = 104; psn < 107; ++psn) {
        send(psn);
        ack(psn);
        wait(2 * ms);
        send(psn);
        ack(psn);
    }
    EXPECT_EQ(answered(), "needless-retransmissions likely");
    EXPECT_EQ(last_.causes.size(), 1U);
}

// A requester that goes back retransmits all requests.
TEST_F(PathOf, two_packets_that_are_sent_again_at_once_are_no_doubles) {
    connect();
    for (int copy = 0; copy < 2; ++copy)
        for (std::uint32_t psn = 100; psn < 102; ++psn)
            send(psn);
    ack(101);
    EXPECT_EQ(answered(), "none");
}

TEST_F(PathOf, damaged_packets) {
    connect();
    for (std::uint32_t psn = 100; psn < 110; ++psn) {
        send(psn);
        ack(psn);
    }
    const std::uint64_t broken = broken_send(110);
    wait(67 * ms);
    send(110);
    ack(110);
    EXPECT_EQ(answered(), "corruption certain");
    EXPECT_TRUE(shows_frame(broken));
}

// The capture has no valid request.
TEST_F(PathOf, a_damaged_request_among_responses_alone) {
    connect();
    broken_send(100);
    for (int copy = 0; copy < 3; ++copy)
        add(answer(to_server, 7));
    nak(100, syndrome::rnr);
    EXPECT_EQ(answered(), "receiver-not-ready certain");
}

TEST_F(PathOf, wrong_icrcs_of_all_packets_of_a_host_are_its_adapters) {
    for (std::uint32_t psn = 100; psn < 110; ++psn) {
        broken_send(psn);
        ack(psn);
    }
    EXPECT_EQ(answered(), "none");
}

TEST_F(PathOf, marks_of_congestion) {
    connect();
    auto made = packet(to_server, opcode::send_only, 100, 8);
    made.ipv4->dsfield |= 3;
    add(made);
    ack(100);
    EXPECT_EQ(answered(), "congestion certain");
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(PathOf, flushed_requests_are_no_failure) {
    connect();
    posts_send(100, 8);
    completes("WR_FLUSH_ERR");
    EXPECT_EQ(answered(), "none");
}

}  // namespace explain_test

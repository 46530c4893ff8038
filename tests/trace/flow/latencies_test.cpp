// Times from requests to their responses. The tests set the time of each packet in nanoseconds. All
// durations are below 64 ns, where the histogram is exact, or single, so that median and maximum
// are equal.
#include "trace/flow/connection.hpp"

namespace latencies_test {

using namespace flow_test;

using Latencies = Connection;

TEST_F(Latencies, an_ack_ends_the_time_of_each_request_that_it_covers) {
    feed_.at(0);
    send(100);
    feed_.at(10);
    send(101);
    feed_.at(30);
    ack(101);
    EXPECT_EQ(requests().ack.count, 2U);
    EXPECT_EQ(requests().ack.p50, 20);
    EXPECT_EQ(requests().ack.p99, 30);
    EXPECT_EQ(requests().ack.max, 30);
    EXPECT_EQ(requests().unmeasured, 0U);
}

TEST_F(Latencies, begin_with_the_last_packet_of_a_message) {
    feed_.at(0);
    feed_.add(packet(there, opcode::send_first, 100, mtu));
    feed_.at(40);
    feed_.add(packet(there, opcode::send_last, 101, 1));
    feed_.at(50);
    ack(100);
    EXPECT_EQ(requests().ack.count, 0U);
    feed_.at(60);
    ack(101);
    EXPECT_EQ(requests().ack.count, 1U);
    EXPECT_EQ(requests().ack.max, 20);
}

TEST_F(Latencies, of_a_read_are_those_to_its_first_and_its_last_response) {
    feed_.at(0);
    read(100, 3 * mtu);
    feed_.at(11);
    response(opcode::read_first, 100);
    feed_.at(22);
    response(opcode::read_middle, 101);
    feed_.at(33);
    response(opcode::read_last, 102);
    EXPECT_EQ(requests().read_first.count, 1U);
    EXPECT_EQ(requests().read_first.max, 11);
    EXPECT_EQ(requests().read_last.count, 1U);
    EXPECT_EQ(requests().read_last.max, 33);
    EXPECT_EQ(requests().ack.count, 0U);
    EXPECT_EQ(requests().unmeasured, 0U);
}

TEST_F(Latencies, of_reads_in_flight_do_not_mix) {
    feed_.at(0);
    read(100, 2 * mtu);
    feed_.at(5);
    read(102, mtu);
    feed_.at(20);
    response(opcode::read_first, 100);
    feed_.at(30);
    response(opcode::read_last, 101);
    feed_.at(37);
    response(opcode::read_only, 102);
    EXPECT_EQ(requests().read_first.count, 2U);
    EXPECT_EQ(requests().read_first.p50, 20);
    EXPECT_EQ(requests().read_first.max, 32);
    EXPECT_EQ(requests().read_last.p50, 30);
    EXPECT_EQ(requests().read_last.max, 32);
}

TEST_F(Latencies, a_read_response_acknowledges_the_requests_before_it) {
    feed_.at(0);
    send(100);
    feed_.at(10);
    read(101, 1);
    feed_.at(25);
    response(opcode::read_only, 101, 1);
    EXPECT_EQ(requests().ack.count, 1U);
    EXPECT_EQ(requests().ack.max, 25);
    EXPECT_EQ(requests().read_last.max, 15);
}

TEST_F(Latencies, a_nak_acknowledges_the_requests_before_it_and_not_its_own) {
    feed_.at(0);
    send(100);
    feed_.at(10);
    send(101);
    feed_.at(25);
    nak(101, syndrome::access_error);
    EXPECT_EQ(requests().ack.count, 1U);
    EXPECT_EQ(requests().ack.max, 25);
    EXPECT_EQ(requests().unmeasured, 1U);
}

TEST_F(Latencies, a_request_that_was_sent_again_keeps_its_first_time) {
    feed_.at(0);
    send(100);
    feed_.at(10);
    nak(100, syndrome::rnr);
    feed_.at(40);
    send(100);
    feed_.at(55);
    ack(100);
    EXPECT_EQ(requests().ack.count, 1U);
    EXPECT_EQ(requests().ack.max, 55);
}

TEST_F(Latencies, after_going_back_upon_a_nak_each_request_is_measured_once) {
    feed_.at(0);
    for (std::uint32_t i = 0; i < 8; ++i)
        send(100 + i);
    nak(102, syndrome::psn_error);
    for (std::uint32_t i = 2; i < 8; ++i)
        send(100 + i);
    ack(107);
    EXPECT_EQ(requests().ack.count, 8U);
    EXPECT_EQ(requests().unmeasured, 0U);
    EXPECT_EQ(requests().ack.max, 13 * Feed::step) << "from 102 on";
}

TEST_F(Latencies, the_rest_of_a_read_that_is_asked_for_again_settles_the_read) {
    feed_.at(0);
    read(100, 4 * mtu);
    feed_.at(10);
    response(opcode::read_first, 100);
    feed_.at(30);
    read(101, 3 * mtu);
    feed_.at(40);
    response(opcode::read_first, 101);
    feed_.at(45);
    response(opcode::read_middle, 102);
    feed_.at(50);
    response(opcode::read_last, 103);
    EXPECT_EQ(requests().read_first.count, 1U);
    EXPECT_EQ(requests().read_first.max, 10);
    EXPECT_EQ(requests().read_last.count, 1U);
    EXPECT_EQ(requests().read_last.max, 50);
    EXPECT_EQ(requests().unmeasured, 0U);
}

TEST_F(Latencies, a_read_whose_last_response_is_missing_is_not_measured_to_its_end) {
    read(100, 2 * mtu);
    response(opcode::read_first, 100);
    send(102);
    ack(102);
    EXPECT_EQ(requests().read_first.count, 1U);
    EXPECT_EQ(requests().read_last.count, 0U);
    EXPECT_EQ(requests().ack.count, 1U);
    EXPECT_EQ(requests().unmeasured, 1U);
}

TEST_F(Latencies, what_is_not_answered_is_not_measured) {
    send(100, 3);
    ack(100);
    EXPECT_EQ(requests().ack.count, 1U);
    EXPECT_EQ(requests().unmeasured, 2U);
}

TEST_F(Latencies, unreliable_connections_have_none) {
    feed_.add(packet(there, opcode::uc_send_only, 100, 8));
    EXPECT_EQ(requests().ack.count, 0U);
    EXPECT_EQ(requests().unmeasured, 0U);
}

TEST_F(Latencies, a_late_request_is_not_measured) {
    send(100);
    send(102);
    send(101);
    ack(102);
    EXPECT_EQ(requests().ack.count, 2U);
    EXPECT_EQ(requests().unmeasured, 1U);
}

TEST_F(Latencies, requests_that_a_new_beginning_leaves_behind_are_not_measured) {
    send(100, 3);
    send(0x700000);
    ack(0x700000);
    EXPECT_EQ(requests().ack.count, 1U);
    EXPECT_EQ(requests().unmeasured, 3U);
}

// The response to FLUSH and ATOMIC WRITE is a READ response without data (Linux rxe_resp.c,
// send_read_response_ack; IBTA annex A19).
TEST_F(Latencies, a_flush_is_acknowledged_by_a_read_response) {
    feed_.at(0);
    feed_.add(packet(there, opcode::flush, 100));
    feed_.at(12);
    response(opcode::read_only, 100, 0);
    feed_.at(50);
    send(101);
    feed_.at(60);
    ack(101);
    EXPECT_EQ(requests().ack.count, 2U);
    EXPECT_EQ(requests().ack.max, 12);
    EXPECT_EQ(requests().read_first.count, 0U);
    EXPECT_EQ(requests().unmeasured, 0U);
}

TEST_F(Latencies, a_read_of_more_bytes_than_the_psns_have_packets_is_a_read) {
    read(100, UINT32_MAX);
    response(opcode::read_first, 100);
    EXPECT_EQ(requests().read_first.count, 1U);
    EXPECT_EQ(requests().ack.count, 0U);
}

class UnknownPathMtu : public Connection {
  protected:
    UnknownPathMtu() : Connection(0) {}
};

TEST_F(UnknownPathMtu, is_told_by_a_first_response_to_a_read) {
    read(100, 3 * mtu);
    EXPECT_EQ(conversation().path_mtu, 0U);
    response(opcode::read_first, 100);
    EXPECT_EQ(conversation().path_mtu, mtu);
    EXPECT_EQ(requests().psns, 3U);
    EXPECT_EQ(requests().last_psn, wire::Psn(102));
}

TEST_F(UnknownPathMtu, does_not_hide_how_many_psns_a_read_took_once_its_last_response_passed) {
    const auto cut = wire::encode(flow_test::read(there, 100, 3 * mtu));
    feed_.add(util::Bytes(cut).first(60), cut.size());
    const auto last = wire::encode(packet(back, opcode::read_last, 102, 1000));
    feed_.add(last);
    EXPECT_EQ(requests().psns, 3U);
    send(105);
    EXPECT_EQ(requests().gaps, 1U);
    EXPECT_EQ(requests().missing, 2U);
}

TEST_F(UnknownPathMtu, is_not_told_by_a_response_that_no_length_fits) {
    read(100, 3 * mtu);  // 1, 2, 3, 6 or 12 packets
    const auto last = wire::encode(packet(back, opcode::read_last, 104, 1000));
    feed_.add(last);
    send(103);
    EXPECT_EQ(requests().psns, 4U);
    EXPECT_EQ(requests().gaps, 0U);
}

TEST_F(UnknownPathMtu, does_not_mix_the_responses_of_short_reads) {
    feed_.at(0);
    read(100, 8);
    feed_.at(5);
    read(101, 8);
    feed_.at(20);  // the response to the first READ is not captured
    response(opcode::read_only, 101, 8);
    EXPECT_EQ(requests().read_last.count, 1U);
    EXPECT_EQ(requests().read_last.max, 15);
    EXPECT_EQ(requests().unmeasured, 1U);
}

TEST_F(UnknownPathMtu, does_not_make_the_rest_of_a_read_that_is_asked_for_again_a_new_one) {
    read(100, 8 * mtu);
    response(opcode::read_first, 100);
    response(opcode::read_middle, 101);
    read(102, 6 * mtu);
    EXPECT_EQ(requests().repeats, 1U);
    EXPECT_EQ(requests().gaps, 0U);
    EXPECT_EQ(requests().psns, 8U);
    read_response(102, 6);
    EXPECT_EQ(requests().read_first.count, 1U);
    EXPECT_EQ(requests().read_last.count, 1U);
}

}  // namespace latencies_test

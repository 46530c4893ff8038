// The analysis of ACKs, NAKs and READ responses.
#include "trace/flow/connection.hpp"

namespace responses_test {

using namespace flow_test;
using wire::Psn;

using Responses = Connection;

TEST_F(Responses, an_ack_counts_for_all_packets_since_the_one_before) {
    send(100, 10);
    ack(100);
    ack(104);
    ack(109);
    EXPECT_EQ(responses().packets, 3U);
    EXPECT_EQ(responses().acks, 3U);
    EXPECT_EQ(responses().counted_acks, 3U);
    EXPECT_EQ(responses().psns_acked, 10U);
    EXPECT_EQ(responses().most_acked, 5U);
    EXPECT_EQ(responses().first_psn, Psn(100));
    EXPECT_EQ(responses().last_psn, Psn(109));
    EXPECT_EQ(responses().repeats, 0U);
}

TEST_F(Responses, wrap_at_24_bits) {
    send(0xfffffe, 5);
    ack(0xffffff);
    ack(2);
    EXPECT_EQ(responses().psns_acked, 5U);
    EXPECT_EQ(responses().most_acked, 3U);
    EXPECT_EQ(responses().last_psn, Psn(2));
    EXPECT_EQ(responses().repeats, 0U);
}

TEST_F(Responses, an_ack_that_passed_is_a_repetition) {
    send(100, 2);
    ack(101);
    ack(101);
    ack(100);
    EXPECT_EQ(responses().acks, 3U);
    EXPECT_EQ(responses().counted_acks, 1U);
    EXPECT_EQ(responses().repeats, 2U);
}

TEST_F(Responses, naks_count_by_their_code) {
    send(100, 8);
    for (const int code : {0, 0, 1, 2, 3, 4, 5, 31})
        nak(100, static_cast<std::uint8_t>(syndrome::psn_error | code));
    nak(100, syndrome::rnr);
    const std::array<std::uint64_t, flow::Responses::nak_codes> expected{2, 1, 1, 1, 1, 2};
    EXPECT_EQ(responses().naks, expected);
    EXPECT_EQ(responses().rnr_naks, 1U);
    EXPECT_EQ(responses().acks, 0U);
    EXPECT_EQ(responses().packets, 9U);
}

TEST_F(Responses, after_a_nak_the_ack_counts_from_the_refused_packet_on) {
    send(100, 10);
    ack(101);
    nak(105, syndrome::psn_error);
    send(105, 5);
    ack(109);
    EXPECT_EQ(responses().most_acked, 5U);
    EXPECT_EQ(responses().psns_acked, 7U) << "the NAK acknowledged three more";
    EXPECT_EQ(responses().repeats, 0U);
    EXPECT_EQ(responses().last_psn, Psn(109));
}

TEST_F(Responses, to_a_read_are_followed_packet_by_packet) {
    read(100, 4 * mtu);
    read_response(100, 4);
    EXPECT_EQ(responses().packets, 4U);
    EXPECT_EQ(responses().gaps, 0U);
    EXPECT_EQ(responses().last_psn, Psn(103));
    EXPECT_EQ(responder().messages[static_cast<std::size_t>(flow::MessageKind::ReadResponse)], 1U);
    EXPECT_EQ(responder().payload_bytes, 4 * mtu);
}

TEST_F(Responses, a_lost_middle_of_a_read_is_a_gap) {
    read(100, 5 * mtu);
    response(opcode::read_first, 100);
    response(opcode::read_middle, 103);
    response(opcode::read_last, 104);
    EXPECT_EQ(responses().gaps, 1U);
    EXPECT_EQ(responses().missing, 2U);
}

TEST_F(Responses, a_first_one_to_a_read_leaves_no_gap_behind_what_it_acknowledges) {
    send(100, 3);
    read(103, 2 * mtu);
    read_response(103, 2);
    EXPECT_EQ(responses().gaps, 0U);
    EXPECT_EQ(responses().missing, 0U);
}

TEST_F(Responses, a_read_in_the_middle_of_another_ones_response_is_a_gap) {
    read(100, 4 * mtu);
    read(104, 2 * mtu);
    response(opcode::read_first, 100);
    response(opcode::read_first, 104);
    EXPECT_EQ(responses().gaps, 1U);
    EXPECT_EQ(responses().missing, 3U);
}

TEST_F(Responses, to_requests_that_began_anew_begin_anew) {
    send(100, 3);
    ack(102);
    send(0x700000, 2);
    ack(0x700001);
    EXPECT_EQ(requests().restarts, 1U);
    EXPECT_EQ(responses().repeats, 0U);
    EXPECT_EQ(responses().acks, 2U);
    EXPECT_EQ(responses().last_psn, Psn(0x700001));
}

TEST_F(Responses, cut_off_before_their_aeth_are_not_judged) {
    send(100);
    const auto frame = wire::encode(answer(back, 100));
    feed_.add(util::Bytes(frame).first(54), frame.size());
    EXPECT_EQ(responses().packets, 0U);
    EXPECT_EQ(responder().packets, 1U);
}

TEST_F(Responses, to_requests_from_before_the_capture_are_no_repetition) {
    send(105, 2);
    ack(102);
    ack(104);
    ack(106);
    EXPECT_EQ(responses().repeats, 0U);
    EXPECT_EQ(responses().acks, 3U);
    EXPECT_EQ(responses().counted_acks, 2U) << "what the first one is for nobody saw";
    EXPECT_EQ(responses().psns_acked, 4U);
}

TEST_F(Responses, with_a_reserved_syndrome_count_as_packets_and_answer_nothing) {
    send(99, 2);
    nak(100, syndrome::reserved);
    EXPECT_EQ(requests().ack.count, 0U);
    EXPECT_EQ(responses().packets, 1U);
    EXPECT_EQ(responses().first_psn, Psn(100));
    EXPECT_EQ(responses().last_psn, Psn(100));
    ack(100);
    EXPECT_EQ(requests().ack.count, 2U);
    EXPECT_EQ(responses().counted_acks, 1U);
}

TEST_F(Responses, the_lost_middle_of_a_read_that_is_asked_for_again_fills_its_gap) {
    read(100, 5 * mtu);
    response(opcode::read_first, 100);
    response(opcode::read_middle, 103);
    response(opcode::read_last, 104);
    read(101, 4 * mtu);
    read_response(101, 4);
    EXPECT_EQ(responses().gaps, 1U);
    EXPECT_EQ(responses().missing, 0U);
    EXPECT_EQ(responses().late, 2U);
    EXPECT_EQ(responses().repeats, 2U);
    EXPECT_EQ(requests().gaps, 0U);
    EXPECT_EQ(requests().repeats, 1U);
    EXPECT_EQ(responder().messages[static_cast<std::size_t>(flow::MessageKind::ReadResponse)], 1U)
        << "its last packet had passed already";
}

TEST_F(Responses, an_atomic_acknowledge_counts_as_a_message) {
    auto add = packet(there, opcode::fetch_add, 100);
    add.atomic_eth = wire::AtomicEth{.va = 0, .rkey = 0x99, .swapdt = 1, .cmpdt = 0};
    feed_.add(add);
    for (int i = 0; i < 2; ++i)
        feed_.add(packet(back, opcode::atomic_acknowledge, 100));
    EXPECT_EQ(responder().messages[static_cast<std::size_t>(flow::MessageKind::AtomicAcknowledge)],
              1U);
    EXPECT_EQ(responses().repeats, 1U);
    EXPECT_EQ(requests().ack.count, 1U);
}

}  // namespace responses_test

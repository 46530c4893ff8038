// Recovery after the link emulator duplicates, reorders or corrupts packets, after RNR NAKs, and if
// responses stop.
#include "trace/conformance/checked_trace.hpp"

namespace {

using namespace conformance_test;

TEST_F(Recoveries, are_not_needed_for_doubled_packets) {
    trace_.twice(send_one(0));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(send_one(1));
    trace_.twice(acknowledge(1, 2));
    trace_.twice(read_part(2, 2));
    respond(2, 0, 2, 3);
    respond(2, 0, 2, 3);
    trace_.pass(fetch_add(4));
    trace_.twice(atomic_ack(4, 4, 7));
    trace_.twice(fetch_add(5));
    trace_.pass(atomic_ack(5, 5, 8));
    trace_.pass(atomic_ack(5, 5, 8));
    trace_.lose(send_one(6));
    trace_.pass(send_one(7));
    trace_.twice(nak(6, 5));
    trace_.pass(send_one(6));
    trace_.pass(send_one(7));
    trace_.pass(acknowledge(7, 7));
    expect(
        "doubled: nothing, as specified\ndoubled: nothing, as specified\n"
        "doubled: nothing, as specified\ndoubled: nothing, as specified\n"
        "doubled: nothing, as specified\nlost: NAK, as specified\n"
        "doubled: nothing, as specified");
    EXPECT_TRUE(first().ended_by);
}

TEST_F(Recoveries, of_a_packet_that_was_overtaken) {
    trace_.hold(send_one(0));
    trace_.pass(send_one(1));
    trace_.release();
    trace_.pass(nak(0, 0));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(0, 1));  // for the duplicate
    trace_.pass(acknowledge(1, 2));
    expect("reordered: NAK, as specified");
}

// A READ without its data and a lost SEND: the requester goes back twice, and not through the SEND
// between them, which arrived.
TEST_F(Recoveries, of_a_response_and_of_a_later_request) {
    trace_.pass(read_part(0, 1));
    trace_.lose(response(0, 0, 1, 1));
    trace_.pass(send_one(1));
    trace_.lose(send_one(2));
    trace_.pass(send_one(3));
    trace_.pass(nak(2, 2));
    trace_.pass(read_part(0, 1));
    trace_.pass(send_one(2));
    trace_.pass(send_one(3));
    trace_.pass(response(0, 0, 1, 2));
    trace_.pass(acknowledge(3, 4));
    expect("lost: implied NAK, as specified\nlost: NAK, as specified");
}

// The responder detects two gaps in succession. The requester goes back after the first NAK, while
// the second is in flight.
TEST_F(Recoveries, that_begin_with_the_earlier_of_two_naks) {
    trace_.hold(send_one(0));
    trace_.pass(send_one(1));
    trace_.release();
    trace_.pass(send_one(2));
    trace_.pass(nak(0, 0));
    trace_.pass(nak(1, 1));
    for (std::uint32_t psn = 0; psn < 3; ++psn) {
        trace_.pass(send_one(psn));
        trace_.pass(acknowledge(psn, psn + 1));
    }
    expect("reordered: NAK, as specified");
}

// The same, and an ACK came between the two NAKs.
TEST_F(Recoveries, that_begin_with_the_earlier_of_two_naks_leave_out_what_was_acknowledged) {
    trace_.hold(send_one(0));
    trace_.hold(send_one(1));
    trace_.pass(send_one(2));
    trace_.release();
    trace_.pass(send_one(3));
    trace_.pass(nak(0, 0));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(nak(2, 2));
    for (std::uint32_t psn = 1; psn < 4; ++psn) {
        trace_.pass(send_one(psn));
        trace_.pass(acknowledge(psn, psn + 1));
    }
    EXPECT_EQ(codes(trace_.report()), "");
}

// The ACK arrives when the retransmission has left.
TEST_F(Recoveries, that_cross_a_late_ack_have_a_cause) {
    trace_.pass(send_one(0));
    trace_.time_out();
    trace_.pass(acknowledge(0, 1));
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    expect("");
}

TEST_F(Recoveries, of_an_ack_that_was_overtaken) {
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.hold(acknowledge(0, 1));
    trace_.pass(acknowledge(1, 2));
    trace_.release();
    expect("reordered: nothing, as specified");
}

TEST_F(Recoveries, of_corrupted_packets_as_of_lost_ones) {
    trace_.corrupt(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(nak(0, 0));
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.corrupt(acknowledge(1, 2));
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    trace_.pass(acknowledge(1, 2));
    expect("corrupted: NAK, as specified\ncorrupted: timeout, as specified");
}

TEST_F(Recoveries, wait_as_an_rnr_nak_says) {
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(rnr(0, 0));
    trace_.wait(700'000);
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("");
    EXPECT_EQ(report_.connections[0].forward.repeated, 2U);
}

TEST_F(Recoveries, of_a_lost_rnr_nak_by_the_nak_that_a_later_request_draws) {
    trace_.pass(send_one(0));
    trace_.lose(rnr(0, 0));
    trace_.pass(send_one(1));
    trace_.pass(nak(0, 0));
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("lost: NAK, as specified");
}

// For example, packets with an ECN mark.
TEST_F(Recoveries, are_not_needed_of_changed_packets_that_are_accepted) {
    auto marked = write_part(0, 1, 3);
    marked.ipv4->dsfield |= 3;
    trace_.pass(write_part(0, 0, 3));
    trace_.change(write_part(0, 1, 3), marked);
    trace_.pass(write_part(0, 2, 3));
    auto answer = acknowledge(2, 1);
    answer.ipv4->dsfield |= 3;
    trace_.change(acknowledge(2, 1), answer);
    expect("changed: nothing, as specified\nchanged: nothing, as specified");
    EXPECT_EQ(first().prediction, "accepted as it arrived");
}

TEST_F(Recoveries, are_not_possible_of_a_changed_packet_that_is_refused) {
    auto foreign = write_part(0, 0, 1);
    foreign.reth->rkey ^= 1;
    trace_.change(write_part(0, 0, 1), foreign);
    auto refusal = acknowledge(0, 0);
    refusal.aeth->syndrome = syndrome::access_error;
    trace_.pass(refusal);
    expect("changed: nothing, as specified");
    EXPECT_EQ(first().prediction, "refused as it arrived: Remote Access Error");
}

TEST_F(Recoveries, of_a_packet_that_came_with_another_psn_by_a_nak) {
    auto later = send_one(5);
    trace_.change(send_one(0), later);
    trace_.pass(nak(0, 0));
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    expect("changed: NAK, as specified");
}

TEST_F(Recoveries, of_an_ack_that_came_with_another_psn_by_the_timer) {
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.change(acknowledge(1, 2), acknowledge(0, 2));
    trace_.time_out();
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("changed: timeout, as specified");
}

TEST_F(Recoveries, of_a_lost_rnr_nak_by_the_timer) {
    trace_.pass(send_one(0));
    trace_.lose(rnr(0, 0));
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    expect("lost: timeout, as specified");
}

TEST_F(Recoveries, end_where_the_retries_are_used_up) {
    trace_.lose(send_one(0));
    for (int i = 0; i < 3; ++i) {
        trace_.time_out();
        trace_.lose(send_one(0));
    }
    report_ = trace_.report();
    EXPECT_EQ(codes(report_), "");
    EXPECT_EQ(report_.connections[0].forward.gave_up_after, 3U);
    EXPECT_EQ(first().verdict, conformance::Verdict::AsSpecified);
    EXPECT_TRUE(first().gave_up);
}

TEST_F(Recoveries, are_undetermined_where_the_capture_ends) {
    trace_.lose(send_one(0));
    report_ = trace_.checker().finish();
    EXPECT_EQ(recoveries(report_), "lost: nothing, undetermined");
}

TEST(WrappedRecoveries, of_a_loss_where_the_psns_wrap) {
    Trace trace(0xfffffe);
    trace.pass(write_part(0xfffffe, 0, 5));
    trace.lose(write_part(0xfffffe, 1, 5));
    for (std::uint32_t i = 2; i < 5; ++i)
        trace.pass(write_part(0xfffffe, i, 5));
    trace.pass(nak(0xffffff, 0));
    for (std::uint32_t i = 1; i < 5; ++i)
        trace.pass(write_part(0xfffffe, i, 5));
    trace.pass(acknowledge(2, 1));
    trace.pass(read_part(3, 2));
    trace.pass(response(3, 0, 2, 2));
    trace.pass(response(3, 1, 2, 2));
    const auto report = trace.report();
    EXPECT_EQ(codes(report), "");
    EXPECT_EQ(recoveries(report), "lost: NAK, as specified");
    EXPECT_EQ(report.recoveries[0].resend->last_psn, wire::Psn(2));
}

}  // namespace

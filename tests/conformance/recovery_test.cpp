// What the cable did, what followed, and that all of it is as specified: no finding anywhere.
#include <gtest/gtest.h>

#include "conformance/trace.hpp"

namespace {

using namespace conformance_test;
using conformance::Cause;

class Recoveries : public testing::Test {
  protected:
    void expect(const std::string& recoveries) {
        report_ = trace_.report();
        EXPECT_EQ(codes(report_), "");
        EXPECT_EQ(conformance_test::recoveries(report_), recoveries);
        for (const auto& one : report_.recoveries)
            EXPECT_TRUE(one.predicted == one.seen || !one.resend) << one.prediction;
    }
    const conformance::Recovery& first() const { return report_.recoveries.front(); }
    void write_all(std::uint32_t psn, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            trace_.pass(write_part(psn, i, count));
    }
    void write_from(std::uint32_t psn, std::uint32_t i, std::uint32_t count) {
        for (; i < count; ++i)
            trace_.pass(write_part(psn, i, count));
    }
    void respond(std::uint32_t psn, std::uint32_t from, std::uint32_t count, std::uint32_t msn) {
        for (std::uint32_t i = from; i < count; ++i)
            trace_.pass(response(psn, i, count, msn));
    }

    Trace trace_;
    conformance::Report report_;
};

TEST_F(Recoveries, are_none_where_nothing_happens) {
    write_all(0, 4);
    trace_.pass(acknowledge(3, 1));
    trace_.pass(read_part(4, 3));
    respond(4, 0, 3, 2);
    trace_.pass(fetch_add(7));
    trace_.pass(atomic_ack(7, 3, 41));
    trace_.pass(send_one(8));
    trace_.pass(acknowledge(8, 4));
    expect("");
    ASSERT_EQ(report_.connections.size(), 1U);
    EXPECT_EQ(report_.connections[0].forward.requests, 7U);
    EXPECT_FALSE(report_.connections[0].forward.began_in_the_middle);
}

TEST_F(Recoveries, one_ack_may_answer_several_requests) {
    for (std::uint32_t psn = 0; psn < 5; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(2, 3));
    trace_.pass(acknowledge(4, 5));
    expect("");
}

TEST_F(Recoveries, of_a_lost_first_packet_by_a_nak) {
    trace_.lose(write_part(0, 0, 4));
    const auto behind = trace_.pass(write_part(0, 1, 4)) + 1;
    write_from(0, 2, 4);
    const auto nak_frame = trace_.pass(nak(0, 0));
    write_all(0, 4);
    trace_.pass(acknowledge(3, 1));
    expect("lost: NAK, as specified");
    EXPECT_EQ(first().behind, behind);
    EXPECT_EQ(first().nak, nak_frame);
    EXPECT_EQ(first().detection_ns, 25'000);
    EXPECT_EQ(first().reaction_ns, 5'000);
    EXPECT_EQ(first().resend->packets, 4U);
    EXPECT_EQ(first().resend->last_psn, wire::Psn(3));
    EXPECT_TRUE(first().ended_by);
    EXPECT_EQ(report_.connections[0].forward.repeated, 4U);
}

TEST_F(Recoveries, of_a_lost_middle_packet_by_a_nak) {
    trace_.pass(write_part(0, 0, 4));
    trace_.lose(write_part(0, 1, 4));
    write_from(0, 2, 4);
    trace_.pass(nak(1, 0));
    write_from(0, 1, 4);
    trace_.pass(acknowledge(3, 1));
    expect("lost: NAK, as specified");
}

TEST_F(Recoveries, of_a_lost_last_packet_by_the_timer) {
    write_from(0, 0, 0);
    for (std::uint32_t i = 0; i < 3; ++i)
        trace_.pass(write_part(0, i, 4));
    trace_.lose(write_part(0, 3, 4));
    trace_.time_out();
    write_all(0, 4);
    trace_.pass(acknowledge(3, 1));
    expect("lost: timeout, as specified");
    EXPECT_EQ(first().detection_ns, timeout_ns + 1'005'000);
    EXPECT_FALSE(first().reaction_ns);
}

TEST_F(Recoveries, of_a_lost_only_packet_by_the_timer) {
    trace_.lose(send_one(0));
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    expect("lost: timeout, as specified");
}

TEST_F(Recoveries, of_a_lost_only_packet_by_the_next_request) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(nak(0, 0));
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(acknowledge(1, 2));
    expect("lost: NAK, as specified");
}

TEST_F(Recoveries, of_a_repeat_that_is_lost_again_by_the_timer) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(nak(0, 0));
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));  // out of sequence, and the NAK is spent
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("lost: NAK, as specified\nlost: timeout, as specified");
}

TEST_F(Recoveries, of_two_losses_together) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.lose(send_one(2));
    trace_.pass(nak(0, 0));
    for (std::uint32_t psn = 0; psn < 3; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(2, 3));
    expect("lost: NAK, as specified\nlost: NAK, as specified");
}

TEST_F(Recoveries, of_a_lost_read_request) {
    trace_.lose(read_part(0, 3));
    trace_.pass(send_one(3));
    trace_.pass(nak(0, 0));
    trace_.pass(read_part(0, 3));
    trace_.pass(send_one(3));
    respond(0, 0, 3, 1);
    trace_.pass(acknowledge(3, 2));
    expect("lost: NAK, as specified");
}

TEST_F(Recoveries, of_a_lost_first_response_of_a_read) {
    trace_.pass(read_part(0, 3));
    trace_.lose(response(0, 0, 3, 1));
    respond(0, 1, 3, 1);
    trace_.pass(read_part(0, 3));
    respond(0, 0, 3, 1);
    expect("lost: implied NAK, as specified");
    EXPECT_EQ(first().reaction_ns, 15'000);
}

TEST_F(Recoveries, of_a_lost_middle_response_by_asking_for_the_rest) {
    trace_.pass(read_part(0, 4));
    trace_.pass(response(0, 0, 4, 1));
    trace_.lose(response(0, 1, 4, 1));
    respond(0, 2, 4, 1);
    trace_.pass(read_part(0, 4, 1));
    respond(1, 0, 3, 1);
    expect("lost: implied NAK, as specified");
    EXPECT_EQ(first().resend->first.psn, wire::Psn(1));
    EXPECT_EQ(first().resend->last_psn, wire::Psn(3));
}

TEST_F(Recoveries, of_a_lost_last_response_by_the_timer) {
    trace_.pass(read_part(0, 3));
    trace_.pass(response(0, 0, 3, 1));
    trace_.pass(response(0, 1, 3, 1));
    trace_.lose(response(0, 2, 3, 1));
    trace_.time_out();
    trace_.pass(read_part(0, 3, 2));
    trace_.pass(response(2, 0, 1, 1));
    expect("lost: timeout, as specified");
}

TEST_F(Recoveries, of_a_lost_response_by_the_ack_behind_it) {
    trace_.pass(read_part(0, 1));
    trace_.pass(send_one(1));
    trace_.lose(response(0, 0, 1, 1));
    trace_.pass(acknowledge(1, 2));
    trace_.pass(read_part(0, 1));
    trace_.pass(send_one(1));
    trace_.pass(response(0, 0, 1, 2));
    trace_.pass(acknowledge(1, 2));
    expect("lost: implied NAK, as specified");
}

TEST_F(Recoveries, of_a_lost_atomic_and_of_its_answer) {
    trace_.lose(fetch_add(0));
    trace_.time_out();
    trace_.pass(fetch_add(0));
    trace_.lose(atomic_ack(0, 1, 41));
    trace_.time_out();
    trace_.pass(fetch_add(0));
    trace_.pass(atomic_ack(0, 1, 41));
    expect("lost: timeout, as specified\nlost: timeout, as specified");
}

TEST_F(Recoveries, of_a_lost_ack_by_the_next_one) {
    trace_.pass(send_one(0));
    trace_.lose(acknowledge(0, 1));
    trace_.pass(send_one(1));
    const auto covering = trace_.pass(acknowledge(1, 2)) + 1;
    expect("lost: nothing, as specified");
    EXPECT_EQ(first().ended_by, covering);
}

TEST_F(Recoveries, of_the_last_ack_by_the_timer_and_a_duplicate) {
    trace_.pass(send_one(0));
    trace_.lose(acknowledge(0, 1));
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    expect("lost: timeout, as specified");
}

TEST_F(Recoveries, of_a_lost_nak_by_the_timer) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.lose(nak(0, 0));
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("lost: timeout, as specified\nlost: timeout, as specified");
}

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
    trace_.pass(acknowledge(0, 1));  // the duplicate
    trace_.pass(acknowledge(1, 2));
    expect("reordered: NAK, as specified");
}

// The responder has two gaps, one behind the other, and the requester begins with the first NAK
// while the second one is on its way.
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

TEST_F(Recoveries, stay_open_where_the_capture_ends) {
    trace_.lose(send_one(0));
    report_ = trace_.checker().finish();
    EXPECT_EQ(recoveries(report_), "lost: nothing, open");
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

TEST(UntoldConnection, is_paired_by_its_psns) {
    Trace trace{std::nullopt};
    trace.pass(send_one(500));
    trace.pass(acknowledge(500, 1));
    trace.pass(send_one(501));
    trace.pass(acknowledge(501, 2));
    const auto report = trace.report();
    EXPECT_EQ(codes(report), "");
    ASSERT_EQ(report.connections.size(), 1U);
    EXPECT_EQ(report.connections[0].paired_by, conformance::PairedBy::Guess);
    EXPECT_FALSE(report.connections[0].forward.began_in_the_middle);
}

TEST(UntoldConnection, with_the_psns_of_another_is_paired_by_the_order_of_its_packets) {
    constexpr Way other_there{.from = 1, .to = 2, .qpn = 0x33};
    constexpr Way other_back{.from = 2, .to = 1, .qpn = 0x44};
    Trace trace{std::nullopt};
    for (int round = 0; round < 2; ++round) {
        for (std::uint32_t psn = 0; psn < 300; ++psn) {
            auto request = send_one(psn);
            auto ack = acknowledge(psn, psn + 1);
            if (round == 1) {
                request.bth->dest_qpn = other_there.qpn;
                ack.bth->dest_qpn = other_back.qpn;
            }
            trace.pass(request);
            trace.pass(ack);
        }
    }
    const auto report = trace.report();
    EXPECT_EQ(codes(report), "");
    ASSERT_EQ(report.connections.size(), 2U);
    EXPECT_EQ(report.connections[0].from_qpn, back.qpn);
    EXPECT_EQ(report.connections[1].from_qpn, other_back.qpn);
}

TEST(UntoldConnection, may_begin_in_the_middle) {
    Trace trace{std::nullopt};
    trace.pass(acknowledge(498, 16));
    trace.pass(send_one(500));
    trace.pass(acknowledge(499, 17));
    trace.pass(acknowledge(500, 18));
    trace.pass(send_one(501));
    trace.pass(acknowledge(501, 19));
    const auto report = trace.report();
    EXPECT_EQ(codes(report), "");
    // The ACK is the first packet, so that the requests are the way back.
    EXPECT_TRUE(report.connections[0].backward.began_in_the_middle);
}

TEST(UntoldConnection, may_begin_in_the_middle_of_a_message) {
    Trace trace{std::nullopt};
    for (std::uint32_t i = 2; i < 6; ++i)
        trace.pass(write_part(100, i, 6));
    trace.pass(acknowledge(105, 40));
    trace.lose(send_one(106));
    trace.pass(send_one(107));
    trace.pass(nak(106, 40));
    trace.pass(send_one(106));
    trace.pass(send_one(107));
    trace.pass(acknowledge(107, 42));
    const auto report = trace.report();
    EXPECT_EQ(codes(report), "");
    EXPECT_EQ(recoveries(report), "lost: NAK, as specified");
    EXPECT_TRUE(report.connections[0].forward.began_in_the_middle);
}

}  // namespace

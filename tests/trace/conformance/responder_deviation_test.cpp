// Deviations of a responder.
#include "trace/conformance/checked_trace.hpp"

namespace {

using namespace conformance_test;

TEST_F(Deviations, no_nak_for_a_gap) {
    trace_.lose(send_one(0));
    const auto behind = trace_.pass(send_one(1)) + 1;
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(acknowledge(1, 2));
    expect("missing-nak", behind);
    EXPECT_EQ(verdicts_, "lost: timeout, deviation");
}

TEST_F(Deviations, a_nak_twice) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(send_one(2));
    trace_.pass(nak(0, 0));
    const auto second = trace_.pass(nak(0, 0));
    for (std::uint32_t psn = 0; psn < 3; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(2, 3));
    expect("nak-repeated", second);
}

TEST_F(Recoveries, with_a_nak_that_was_captured_twice) {
    wire::Packet asks = nak(0, 0);
    asks.ipv4->id = 7;
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(asks);
    trace_.pass(asks);
    for (std::uint32_t psn = 0; psn < 2; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(1, 2));
    expect("lost: NAK, as specified");
}

TEST_F(Deviations, a_nak_for_another_psn) {
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    trace_.lose(send_one(1));
    trace_.pass(send_one(2));
    const auto wrong = trace_.pass(nak(2, 1));
    trace_.pass(send_one(2));
    trace_.time_out();
    trace_.pass(send_one(1));
    trace_.pass(send_one(2));
    trace_.pass(acknowledge(2, 3));
    const auto report = trace_.report();
    EXPECT_EQ(report.findings.at(0).code, conformance::Code::NakPsn);
    EXPECT_EQ(report.findings[0].frame, wrong);
    // The wrong NAK explains the requester's behaviour, so there is no other finding.
    EXPECT_EQ(codes(report).find("missing"), std::string::npos) << codes(report);
}

TEST_F(Deviations, a_nak_for_nothing) {
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    const auto wrong = trace_.lose(nak(1, 1));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("nak-without-cause", wrong);
}

TEST_F(Deviations, an_ack_of_what_never_arrived) {
    trace_.pass(send_one(0));
    trace_.lose(send_one(1));
    const auto wrong = trace_.pass(acknowledge(1, 2));
    const auto report = trace_.report();
    EXPECT_EQ(codes(report), "ack-beyond");
    EXPECT_EQ(report.findings[0].frame, wrong);
}

TEST_F(Deviations, an_ack_that_goes_back) {
    for (std::uint32_t psn = 0; psn < 3; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(2, 3));
    const auto wrong = trace_.pass(acknowledge(0, 3));
    expect("ack-psn", wrong);
}

TEST_F(Deviations, an_ack_that_is_owed_until_its_request_is_repeated) {
    const auto asked = trace_.pass(send_one(0)) + 1;
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    expect("missing-ack", asked);
}

TEST_F(Deviations, an_ack_that_is_late_is_none_if_the_copy_is_acknowledged_too) {
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(acknowledge(1, 2));
    trace_.pass(acknowledge(1, 2));
    trace_.pass(acknowledge(1, 2));
    trace_.pass(send_one(2));
    trace_.pass(acknowledge(2, 3));
    EXPECT_EQ(codes(trace_.report()), "");
}

TEST_F(Deviations, an_ack_that_is_late_is_none_if_only_copies_that_ask_are_acknowledged) {
    trace_.pass(write_part(0, 0, 2));
    trace_.pass(write_part(0, 1, 2));
    trace_.time_out();
    trace_.pass(write_part(0, 0, 2));
    trace_.pass(write_part(0, 1, 2));
    trace_.pass(acknowledge(1, 1));
    trace_.pass(acknowledge(1, 1));
    trace_.pass(send_one(2));
    trace_.pass(acknowledge(2, 2));
    EXPECT_EQ(codes(trace_.report()), "");
}

TEST_F(Deviations, an_ack_that_only_the_copy_gets_is_missing_once_a_later_request_is_answered) {
    const auto asked = trace_.pass(send_one(0)) + 1;
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("missing-ack", asked);
}

// Only the first request can be the one that the responder answers.
TEST_F(Recoveries, an_ack_is_late_and_not_missing_where_the_copy_arrived_damaged) {
    trace_.pass(send_one(0));
    trace_.time_out();
    trace_.corrupt(send_one(0));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    EXPECT_EQ(codes(trace_.report()), "");
}

// The check goes on where it was.
TEST_F(Deviations, data_that_no_read_asked_for_while_an_atomic_waits) {
    trace_.pass(send_one(0));
    trace_.pass(fetch_add(1));
    trace_.pass(send_one(2));
    const auto wrong = trace_.pass(response(5, 0, 1, 3));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(atomic_ack(1, 2, 7));
    trace_.pass(acknowledge(2, 3));
    expect("read-psn", wrong);
}

TEST_F(Deviations, an_ack_that_is_late_is_missing_if_only_the_copy_before_it_is_acknowledged) {
    trace_.pass(send_one(0));
    const auto asked = trace_.pass(send_one(1)) + 1;
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(acknowledge(1, 2));
    trace_.pass(acknowledge(0, 2));
    expect("missing-ack", asked);
}

TEST_F(Deviations, another_msn) {
    trace_.pass(send_one(0));
    const auto wrong = trace_.pass(acknowledge(0, 2));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("msn", wrong);
}

TEST_F(Deviations, an_msn_that_stays_behind_is_told_of_once) {
    trace_.pass(send_one(0));
    const auto wrong = trace_.pass(acknowledge(0, 0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 1));
    expect("msn", wrong);
}

TEST_F(Deviations, a_read_response_with_another_psn) {
    trace_.pass(read_part(0, 3));
    trace_.pass(response(0, 0, 3, 1));
    auto wrong = response(0, 1, 3, 1);
    wrong.bth->psn = wire::Psn(2);
    const auto frame = trace_.lose(wrong);
    trace_.pass(response(0, 2, 3, 1));
    trace_.pass(read_part(0, 3, 1));
    trace_.pass(response(1, 0, 2, 1));
    trace_.pass(response(1, 1, 2, 1));
    const auto report = trace_.report();
    EXPECT_EQ(codes(report), "read-psn");
    EXPECT_EQ(report.findings[0].frame, frame);
}

TEST_F(Deviations, a_first_read_response_with_another_psn) {
    trace_.pass(read_part(0, 1));
    const auto frame = trace_.lose(response(5, 0, 1, 1));
    trace_.time_out();
    trace_.pass(read_part(0, 1));
    trace_.pass(response(0, 0, 1, 1));
    const auto report = trace_.report();
    EXPECT_EQ(codes(report), "read-psn");
    EXPECT_EQ(report.findings[0].frame, frame);
}

TEST_F(Deviations, a_read_response_of_another_position) {
    trace_.pass(read_part(0, 3));
    trace_.pass(response(0, 0, 3, 1));
    const auto wrong = trace_.pass(response(1, 0, 3, 1));  // First instead of Middle
    trace_.pass(response(0, 2, 3, 1));
    const auto report = trace_.report();
    EXPECT_EQ(codes(report), "read-opcode");
    EXPECT_EQ(report.findings.at(0).frame, wrong);
    EXPECT_NE(report.findings.at(0).text.find("packet 2 of 3"), std::string::npos);
}

TEST_F(Deviations, a_read_that_is_not_answered_to_its_end) {
    const auto asked = trace_.pass(read_part(0, 3)) + 1;
    trace_.pass(send_one(3));
    trace_.pass(response(0, 0, 3, 1));
    trace_.pass(acknowledge(3, 2));
    trace_.pass(read_part(0, 3, 1));
    trace_.pass(send_one(3));
    respond(1, 0, 2, 2);
    trace_.pass(acknowledge(3, 2));
    expect("missing-response", asked);
}

TEST_F(Deviations, a_read_whose_copy_is_not_answered) {
    trace_.pass(read_part(0, 1));
    trace_.lose(response(0, 0, 1, 1));
    trace_.time_out();
    const auto asked = trace_.pass(read_part(0, 1)) + 1;
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    const auto report = trace_.report();
    EXPECT_EQ(codes(report), "missing-response");
    EXPECT_EQ(report.findings.at(0).frame, asked);
}

TEST_F(Deviations, a_response_that_nobody_asked_for) {
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    const auto wrong = trace_.pass(response(0, 0, 1, 1));
    expect("response-without-request", wrong);
}

TEST_F(Deviations, an_atomic_that_is_executed_again) {
    trace_.pass(fetch_add(0));
    trace_.lose(atomic_ack(0, 1, 41));
    trace_.time_out();
    trace_.pass(fetch_add(0));
    const auto wrong = trace_.pass(atomic_ack(0, 1, 42));
    expect("atomic-replay", wrong);
}

TEST_F(Deviations, an_answer_to_a_packet_with_a_bad_icrc) {
    trace_.corrupt(send_one(0));
    const auto wrong = trace_.pass(acknowledge(0, 1));
    expect("icrc-answered", wrong);
    EXPECT_EQ(verdicts_, "corrupted: nothing, deviation");
}

TEST_F(Deviations, a_nak_for_a_packet_with_a_bad_icrc) {
    trace_.lose(send_one(0));
    trace_.corrupt(send_one(1));
    const auto wrong = trace_.pass(nak(0, 0));
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    const auto report = trace_.report();
    EXPECT_EQ(codes(report), "icrc-answered");
    EXPECT_EQ(report.findings[0].frame, wrong);
}

TEST_F(Deviations, an_answer_behind_a_fatal_nak) {
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 0, syndrome::access_error));
    trace_.pass(send_one(1));
    const auto wrong = trace_.pass(acknowledge(1, 1));
    expect("answer-after-error", wrong);
}

TEST_F(Deviations, silence_after_a_fatal_nak_is_required) {
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 0, syndrome::access_error));
    trace_.pass(send_one(1));
    for (int i = 0; i < 3; ++i)
        trace_.time_out();
    trace_.pass(send_one(2));
    EXPECT_FALSE(trace_.report().connections[0].forward.silent_since);
}

TEST_F(Deviations, a_middle_packet_without_its_first_is_refused) {
    trace_.pass(write_part(0, 1, 3));  // with PSN 1
    const auto report = trace_.report();
    EXPECT_EQ(report.connections[0].forward.began_in_the_middle, true);
    EXPECT_EQ(codes(report), "");
}

TEST_F(Deviations, a_message_that_is_broken_off_ends_the_queue_pair) {
    trace_.pass(write_part(0, 0, 3));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 0, 0x61));  // Invalid Request
    trace_.pass(send_one(2));
    const auto wrong = trace_.pass(acknowledge(2, 2));
    expect("answer-after-error", wrong);
}

TEST_F(Deviations, a_message_that_is_broken_off_and_accepted) {
    trace_.pass(write_part(0, 0, 3));
    const auto broken = trace_.pass(send_one(1)) + 1;
    trace_.pass(acknowledge(1, 1));
    trace_.pass(send_one(2));
    trace_.pass(acknowledge(2, 2));
    expect("missing-nak", broken);
}

TEST_F(Deviations, a_responder_that_falls_silent_is_not_one) {
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    const auto silent = trace_.pass(send_one(1)) + 1;
    for (int i = 0; i < 3; ++i) {
        trace_.time_out();
        trace_.pass(send_one(1));
    }
    const auto report = trace_.report();
    EXPECT_EQ(codes(report), "");
    EXPECT_EQ(report.connections[0].forward.silent_since, silent);
    EXPECT_EQ(report.connections[0].forward.gave_up_after, 3U);
}

}  // namespace

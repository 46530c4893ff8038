// Deviations of a requester.
#include "trace/conformance/checked_trace.hpp"

namespace {

using namespace conformance_test;

TEST_F(Deviations, a_psn_that_is_left_out) {
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    const auto wrong = trace_.pass(send_one(2));
    trace_.pass(nak(1, 1));
    expect("psn-skipped", wrong);
}

// What comes after the PSN that was left out is acknowledged as usual.
TEST_F(Deviations, a_psn_that_is_left_out_and_sent_later_is_the_only_one) {
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    const auto wrong = trace_.pass(send_one(2));
    trace_.pass(nak(1, 1));
    for (const std::uint32_t psn : {1U, 2U})
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(2, 3));
    trace_.lose(send_one(3));
    trace_.time_out();
    trace_.pass(send_one(3));
    trace_.pass(acknowledge(3, 4));
    expect("psn-skipped", wrong);
    EXPECT_EQ(verdicts_, "lost: timeout, as specified");
}

TEST_F(Deviations, a_resend_from_too_early) {
    for (std::uint32_t psn = 0; psn < 2; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(1, 2));
    trace_.lose(send_one(2));
    trace_.pass(send_one(3));
    trace_.pass(nak(2, 2));
    const auto wrong = trace_.pass(send_one(1));
    trace_.pass(send_one(2));
    trace_.pass(send_one(3));
    trace_.pass(acknowledge(1, 2));
    trace_.pass(acknowledge(3, 4));
    expect("resend-from", wrong);
    EXPECT_EQ(verdicts_, "lost: NAK, deviation");
}

TEST_F(Deviations, a_resend_from_too_late) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(nak(0, 0));
    const auto wrong = trace_.pass(send_one(1));
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("resend-from", wrong);
}

TEST_F(Deviations, a_resend_without_a_cause) {
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    trace_.wait(200'000'000);
    const auto wrong = trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    expect("resend-without-cause", wrong);
}

TEST_F(Deviations, a_resend_before_the_timer) {
    trace_.pass(send_one(0));
    const auto wrong = trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(acknowledge(0, 1));
    expect("timeout-early", wrong);
}

wire::Packet with_id(std::uint32_t psn, std::uint16_t id) {
    wire::Packet made = send_one(psn);
    made.ipv4->id = id;
    return made;
}

TEST_F(Deviations, a_resend_with_an_identification_of_its_own) {
    trace_.pass(with_id(0, 7));
    const auto wrong = trace_.pass(with_id(0, 8));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(acknowledge(0, 1));
    expect("timeout-early", wrong);
}

// Some senders give all packets the same identification.
TEST_F(Deviations, a_resend_by_a_sender_with_equal_identifications) {
    for (std::uint32_t psn = 0; psn < 2; ++psn)
        trace_.pass(with_id(psn, 7));
    trace_.pass(acknowledge(0, 1));
    const auto wrong = trace_.pass(with_id(1, 7));
    trace_.pass(acknowledge(1, 2));
    trace_.pass(acknowledge(1, 2));
    expect("timeout-early", wrong);
}

TEST_F(Recoveries, are_not_needed_for_a_packet_that_the_path_copied) {
    trace_.pass(with_id(0, 7));
    trace_.pass(with_id(0, 7));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(with_id(1, 8));
    trace_.pass(acknowledge(1, 2));
    expect("");
    const conformance::HalfReport& half = report_.connections[0].forward;
    EXPECT_EQ(half.copied, 1U);
    EXPECT_EQ(half.repeated, 0U);
}

TEST_F(Deviations, a_resend_that_leaves_packets_out) {
    trace_.lose(send_one(0));
    for (std::uint32_t psn = 1; psn < 4; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(nak(0, 0));
    trace_.pass(send_one(0));
    const auto wrong = trace_.pass(send_one(2));
    trace_.pass(nak(1, 1));
    for (std::uint32_t psn = 1; psn < 4; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(3, 4));
    expect("resend-skips", wrong);
}

TEST_F(Deviations, new_requests_before_the_resend_is_complete) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(nak(0, 0));
    trace_.pass(send_one(0));
    const auto wrong = trace_.pass(send_one(2));
    trace_.pass(nak(1, 1));
    trace_.pass(send_one(1));
    trace_.pass(send_one(2));
    trace_.pass(acknowledge(2, 3));
    expect("resend-skips", wrong);
}

TEST_F(Deviations, a_repeat_with_other_bytes) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(nak(0, 0));
    auto other = send_one(0);
    other.payload = wire_test::sample_payload(65);
    const auto wrong = trace_.pass(other);
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("resend-differs", wrong);
    EXPECT_EQ(verdicts_, "lost: NAK, deviation");
}

// A capture with a part of the payload has all headers.
TEST_F(Deviations, a_repeat_to_another_address_in_a_capture_that_cuts_the_payload) {
    trace_.snap(100);
    trace_.pass(write_part(0, 0, 2));
    trace_.pass(write_part(0, 1, 2));
    trace_.time_out();
    auto other = write_part(0, 0, 2);
    other.reth->va += 4;
    const auto wrong = trace_.pass(other);
    trace_.pass(write_part(0, 1, 2));
    trace_.pass(acknowledge(1, 1));
    trace_.pass(acknowledge(1, 1));
    expect("resend-differs", wrong);
}

TEST_F(Recoveries, of_a_payload_that_the_capture_cuts_are_not_compared) {
    trace_.lose(write_part(0, 0, 2));
    trace_.snap(100);
    trace_.pass(write_part(0, 1, 2));
    trace_.pass(nak(0, 0));
    trace_.pass(write_part(0, 0, 2));
    trace_.snap(110);
    trace_.pass(write_part(0, 1, 2));
    trace_.pass(acknowledge(1, 1));
    expect("lost: NAK, as specified");
}

// {change of the address, of the rkey, of the length}
class OtherRest : public Deviations,
                  public testing::WithParamInterface<std::array<std::uint32_t, 3>> {};

TEST_P(OtherRest, of_a_read_is_a_deviation) {
    trace_.pass(read_part(0, 3));
    trace_.pass(response(0, 0, 3, 1));
    trace_.lose(response(0, 1, 3, 1));
    trace_.pass(response(0, 2, 3, 1));
    auto rest = read_part(0, 3, 1);
    rest.reth->va += GetParam()[0];
    rest.reth->rkey += GetParam()[1];
    rest.reth->dmalen -= GetParam()[2];
    const auto wrong = trace_.pass(rest);
    respond(1, 0, 2, 1);
    expect("resend-differs", wrong);
}

INSTANTIATE_TEST_SUITE_P(All, OtherRest,
                         testing::Values(std::array{4U, 0U, 0U}, std::array{0U, 1U, 0U},
                                         std::array{0U, 0U, 4U}));

TEST_F(Deviations, a_repeat_that_does_not_wait_as_the_rnr_nak_says) {
    trace_.pass(send_one(0));
    trace_.pass(rnr(0, 0));
    const auto wrong = trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    expect("rnr-early", wrong);
}

// {nanoseconds from the RNR NAK to the repeat, deviation}. It asks for 0.64 ms; the frames add 15 us.
class RnrWait : public Deviations,
                public testing::WithParamInterface<std::pair<std::int64_t, bool>> {};

TEST_P(RnrWait, may_differ_by_the_error_of_clocks) {
    trace_.pass(send_one(0));
    trace_.pass(rnr(0, 0));
    trace_.wait(GetParam().first);
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    EXPECT_EQ(trace_.report().findings.size(), GetParam().second ? 1U : 0U);
}

INSTANTIATE_TEST_SUITE_P(All, RnrWait,
                         testing::Values(std::pair(620'000, true), std::pair(634'500, false)));

// {nanoseconds between the copies, deviation}. The timeout is 20 ms; a tick of Linux may take 10 ms.
class EarlyTimer : public Deviations,
                   public testing::WithParamInterface<std::pair<std::int64_t, bool>> {};

TEST_P(EarlyTimer, is_early_by_more_than_a_tick) {
    trace_.pass(send_one(0));
    trace_.wait(GetParam().first);
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(acknowledge(0, 1));
    EXPECT_EQ(trace_.report().findings.size(), GetParam().second ? 1U : 0U);
}

INSTANTIATE_TEST_SUITE_P(All, EarlyTimer,
                         testing::Values(std::pair(9'000'000, true), std::pair(11'000'000, false)));

// A stalled host sends the first copy late, and its timer has begun before.
TEST_F(Deviations, one_early_timer_of_a_hundred_is_not_judged) {
    std::uint32_t psn = 0;
    for (; psn < 99; ++psn) {
        trace_.lose(send_one(psn));
        trace_.time_out();
        trace_.pass(send_one(psn));
        trace_.pass(acknowledge(psn, psn + 1));
    }
    trace_.pass(send_one(psn));
    trace_.pass(send_one(psn));
    trace_.pass(acknowledge(psn, psn + 1));
    trace_.pass(acknowledge(psn, psn + 1));
    trace_.pass(response(psn, 0, 1, psn + 1));
    const auto report = trace_.report();
    EXPECT_EQ(codes(report), "response-without-request");
    ASSERT_EQ(report.unknowable.size(), 1U);
    EXPECT_EQ(report.unknowable[0].code, conformance::Code::TimeoutEarly);
}

// {retransmissions, deviation}. retry_cnt is 3.
class Retries : public Deviations, public testing::WithParamInterface<std::pair<int, bool>> {};

TEST_P(Retries, without_a_response_are_limited) {
    trace_.lose(send_one(0));
    for (int i = 0; i < GetParam().first; ++i) {
        trace_.time_out();
        trace_.lose(send_one(0));
    }
    const auto report = trace_.report();
    EXPECT_EQ(codes(report), GetParam().second ? "retries-exceeded" : "");
}

INSTANTIATE_TEST_SUITE_P(All, Retries,
                         testing::Values(std::pair(3, false), std::pair(4, true),
                                         std::pair(9, true)));

TEST_F(Deviations, retries_that_a_response_interrupts_are_not_added_up) {
    for (std::uint32_t psn = 0; psn < 3; ++psn) {
        trace_.lose(send_one(psn));
        for (int i = 0; i < 3; ++i) {
            trace_.time_out();
            if (i < 2)
                trace_.lose(send_one(psn));
            else
                trace_.pass(send_one(psn));
        }
        trace_.pass(acknowledge(psn, psn + 1));
    }
    EXPECT_TRUE(trace_.report().findings.empty());
}

// {nanoseconds from the second NAK to the repeat of what the first one asked for, deviation}
class EarlierNak : public Deviations,
                   public testing::WithParamInterface<std::pair<std::int64_t, bool>> {};

TEST_P(EarlierNak, asks_until_the_requester_must_have_seen_the_later_one) {
    trace_.hold(send_one(0));
    trace_.pass(send_one(1));
    trace_.release();
    trace_.pass(send_one(2));
    trace_.pass(nak(0, 0));
    trace_.pass(nak(1, 1));
    trace_.wait(GetParam().first);
    for (std::uint32_t psn = 0; psn < 3; ++psn) {
        trace_.pass(send_one(psn));
        trace_.pass(acknowledge(psn, psn + 1));
    }
    EXPECT_EQ(codes(trace_.report()), GetParam().second ? "resend-without-cause" : "");
}

INSTANTIATE_TEST_SUITE_P(All, EarlierNak,
                         testing::Values(std::pair(49'000'000, false),
                                         std::pair(51'000'000, true)));

// {nanoseconds from the NAK for a later request until the READ is sent again, deviation}. The timer may
// run since an earlier packet.
class ReadBeforeNak : public Deviations,
                      public testing::WithParamInterface<std::pair<std::int64_t, bool>> {};

TEST_P(ReadBeforeNak, is_sent_again_by_its_timer) {
    trace_.pass(read_part(0, 1));
    trace_.lose(response(0, 0, 1, 1));
    trace_.lose(send_one(1));
    trace_.pass(send_one(2));
    trace_.pass(nak(1, 1));
    trace_.pass(read_part(0, 1));  // for the NAK shows that its response is missing
    trace_.lose(response(0, 0, 1, 1));
    trace_.wait(GetParam().first);
    trace_.pass(read_part(0, 1));
    trace_.pass(response(0, 0, 1, 1));
    trace_.pass(send_one(1));
    trace_.pass(send_one(2));
    trace_.pass(acknowledge(2, 3));
    EXPECT_EQ(codes(trace_.report()), GetParam().second ? "resend-from" : "");
}

INSTANTIATE_TEST_SUITE_P(All, ReadBeforeNak,
                         testing::Values(std::pair(12'000'000, false), std::pair(9'000'000, true)));

TEST_F(Deviations, a_nak_that_only_the_timer_answers) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(nak(0, 0));
    trace_.time_out();
    const auto wrong = trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("nak-ignored", wrong);
    EXPECT_EQ(verdicts_, "lost: timeout, deviation");
}

}  // namespace

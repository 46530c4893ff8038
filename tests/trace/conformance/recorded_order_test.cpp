// A capture at one point whose packets are not in the order in which they passed.
#include "trace/conformance/one_point_capture.hpp"

namespace recorded_order_test {

using namespace conformance_test;

class RecordedOrder : public testing::Test, protected OnePointCapture {};

TEST_F(RecordedOrder, of_responses_before_their_requests_is_no_deviation) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(acknowledge(1, 2));
    pass(send_one(1));
    pass(response(2, 0, 2, 3));
    pass(response(2, 1, 2, 3));
    pass(read_part(2, 2));
    pass(rnr(4, 3));
    pass(send_one(4));
    wait(ms);
    pass(acknowledge(4, 4));
    pass(send_one(4));
    EXPECT_EQ(result_at_responder(), " / , 4");
    EXPECT_EQ(half().requests, 5U);
    EXPECT_EQ(half().responses, 6U);
}

// All responses come on a way that is 300 us shorter.
TEST_F(RecordedOrder, of_a_whole_direction_may_be_ahead) {
    for (std::uint32_t psn = 0; psn < 400; psn += 4) {
        pass(acknowledge(psn + 3, psn / 4 + 1));
        for (std::uint32_t i = 0; i < 4; ++i)
            pass(write_part(psn, i, 4));
    }
    EXPECT_EQ(result_at_responder(), " / , 100");
}

TEST_F(RecordedOrder, is_not_corrected_by_a_request_that_comes_much_later) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(acknowledge(1, 2));
    wait(11 * ms);
    pass(send_one(1));
    EXPECT_EQ(result(), "ack-beyond / , 0");
}

TEST_F(RecordedOrder, is_corrected_within_ten_milliseconds) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(acknowledge(1, 2));
    wait(9 * ms);
    pass(send_one(1));
    EXPECT_EQ(result(), " / , 1");
}

TEST_F(RecordedOrder, is_not_corrected_without_the_request) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(acknowledge(2, 2));
    pass(send_one(1));
    EXPECT_EQ(result(), "ack-beyond / , 0");
}

// The ACK shows that all had arrived: the responder would have asked for the first one.
TEST_F(RecordedOrder, of_requests_is_corrected_by_their_ack) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(write_part(1, 0, 3));
    pass(write_part(1, 2, 3));
    pass(write_part(1, 1, 3));
    pass(acknowledge(3, 2));
    pass(send_one(4));
    pass(acknowledge(4, 3));
    EXPECT_EQ(result_at_requester(), " / , 1");
    EXPECT_EQ(half().repeated, 0U);
}

TEST_F(RecordedOrder, of_requests_that_arrived_so_is_kept) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(send_one(2));
    pass(send_one(1));
    pass(nak(1, 1));
    pass(acknowledge(1, 2));
    pass(send_one(2));
    pass(acknowledge(2, 3));
    EXPECT_EQ(result_at_responder(), " / psn-skipped resend-without-cause, 0");
    EXPECT_EQ(half().repeated, 2U);
}

TEST_F(RecordedOrder, of_the_packets_behind_a_lost_one_is_kept) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(send_one(2));
    pass(send_one(3));
    pass(nak(1, 1));
    for (std::uint32_t psn = 1; psn < 4; ++psn)
        pass(send_one(psn));
    pass(acknowledge(3, 4));
    EXPECT_EQ(result_at_responder(), " / psn-skipped, 0");
    EXPECT_EQ(half().repeated, 3U);
}

TEST_F(RecordedOrder, of_the_last_requests_is_corrected_without_an_ack) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(send_one(2));
    pass(send_one(1));
    EXPECT_EQ(result_at_requester(), " / , 1");
    EXPECT_EQ(half().requests, 3U);
}

TEST_F(RecordedOrder, of_more_packets_than_are_held_is_kept) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    for (std::uint32_t psn = 2; psn < 4099; ++psn)
        pass(send_one(psn), 1);
    pass(send_one(1));
    pass(acknowledge(4098, 4099));
    EXPECT_EQ(result(), " / psn-skipped resend-without-cause, 0");
    EXPECT_EQ(half().requests, 4099U);
}

TEST_F(RecordedOrder, with_a_damaged_packet_is_kept) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(send_one(2));
    corrupt(send_one(1));
    pass(acknowledge(2, 3));
    EXPECT_EQ(result(), " / psn-skipped resend-without-cause, 0");
}

// The times are those of the capture, and a wait may have been longer.
TEST_F(RecordedOrder, that_was_corrected_leaves_times_open) {
    for (const bool is_corrected : {false, true}) {
        OnePointCapture other;
        other.pass(send_one(0));
        other.pass(acknowledge(0, 1));
        if (is_corrected)
            other.pass(acknowledge(1, 2));
        other.pass(send_one(1));
        if (!is_corrected)
            other.pass(acknowledge(1, 2));
        other.pass(send_one(2));
        other.pass(rnr(2, 2));
        other.pass(send_one(2));
        other.pass(acknowledge(2, 3));
        EXPECT_EQ(other.result_at_requester(),
                  is_corrected ? " / rnr-early, 1" : "rnr-early / , 0");
    }
}

}  // namespace recorded_order_test

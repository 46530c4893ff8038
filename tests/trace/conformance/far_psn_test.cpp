// Requests whose PSN is far from the next one: forged, changed on their way, or of another sequence.
#include "trace/conformance/one_point_capture.hpp"

namespace far_psn_test {

using namespace conformance_test;

class FarPsn : public testing::Test {
  protected:
    void write(std::uint32_t first, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            capture_.pass(send_one(first + i));
            capture_.pass(acknowledge(first + i, ++msn_));
        }
    }

    OnePointCapture capture_;
    std::uint32_t msn_ = 0;
};

TEST_F(FarPsn, makes_no_retransmissions_of_those_behind_it) {
    for (const std::uint32_t far : {0x7fff00U, 0x800500U, 0x123456U}) {
        OnePointCapture capture;
        for (std::uint32_t psn = 0; psn < 3; ++psn) {
            capture.pass(send_one(psn));
            capture.pass(acknowledge(psn, psn + 1));
        }
        capture.pass(send_one(far));
        if (far < 0x800000)
            capture.pass(nak(3, 3));
        for (std::uint32_t psn = 3; psn < 6; ++psn) {
            capture.pass(send_one(psn));
            capture.pass(acknowledge(psn, psn + 1));
        }
        EXPECT_EQ(capture.result_at_responder(), " / psn-skipped, 0") << far;
        EXPECT_EQ(capture.half().repeated, 0U) << far;
        EXPECT_EQ(capture.half().copied, 0U) << far;
    }
}

TEST_F(FarPsn, is_where_another_sequence_begins_if_the_next_one_follows) {
    write(0, 3);
    capture_.pass(send_one(0x500000));
    capture_.pass(acknowledge(0x500000, 1));
    capture_.pass(send_one(0x500001));
    capture_.pass(acknowledge(0x500001, 2));
    capture_.pass(send_one(0x500001));  // sent again without a cause
    EXPECT_EQ(capture_.result(), "ack-beyond ack-beyond / psn-skipped resend-without-cause, 0");
    EXPECT_EQ(capture_.half().repeated, 1U);
}

TEST_F(FarPsn, that_comes_twice_is_one_that_is_sent_again) {
    write(0, 3);
    for (int i = 0; i < 2; ++i)
        capture_.pass(send_one(0x400000));
    write(3, 2);
    capture_.result();
    EXPECT_EQ(capture_.half().repeated, 1U);
}

TEST_F(FarPsn, before_the_first_one_of_the_capture_is_a_retransmission) {
    capture_.pass(send_one(5));
    capture_.pass(nak(4, 0));
    capture_.pass(send_one(4));
    capture_.pass(send_one(5));
    capture_.pass(acknowledge(5, 2));
    capture_.result();
    EXPECT_EQ(capture_.half().repeated, 2U);
}

}  // namespace far_psn_test

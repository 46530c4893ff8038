// Captures whose clock has steps: too short a wait is found only if it is shorter by more than a step.
#include "trace/conformance/one_point_capture.hpp"

namespace clock_step_test {

using namespace conformance_test;

class ClockOf : public testing::TestWithParam<std::int64_t> {
  protected:
    /// The check of a capture at the requester, all of whose packets are one step apart.
    std::string result(std::initializer_list<wire::Packet> packets) const {
        OnePointCapture capture;
        for (const wire::Packet& packet : packets)
            capture.pass(packet, GetParam());
        return capture.result_at_requester();
    }
    std::string result_with_rnr_nak() const {
        return result({send_one(0), rnr(0, 0), send_one(0), acknowledge(0, 1)});
    }
    std::string result_with_repetition() const {
        return result({send_one(0), send_one(0), acknowledge(0, 1)});
    }
};

using CoarseClockOf = ClockOf;
using FineClockOf = ClockOf;

// The RNR NAK asks for 0.64 ms, and no timer in use is shorter than 1 ms.
TEST_P(CoarseClockOf, a_capture_shows_no_wait_as_too_short) {
    EXPECT_EQ(result_with_rnr_nak(), " / , 0");
    EXPECT_EQ(result_with_repetition(), " / , 0");
}

TEST_P(FineClockOf, a_capture_shows_waits_that_are_too_short) {
    EXPECT_EQ(result_with_rnr_nak(), "rnr-early / , 0");
    EXPECT_EQ(result_with_repetition(), "resend-without-cause / , 0");
}

INSTANTIATE_TEST_SUITE_P(Steps, CoarseClockOf, testing::Values(0, 800'000, 1'000'000, 15'625'000));
INSTANTIATE_TEST_SUITE_P(Steps, FineClockOf, testing::Values(1, 1'000, 250'000));

}  // namespace clock_step_test

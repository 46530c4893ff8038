// The first request has another PSN than the connection manager announced.
#include <optional>
#include <string>
#include <tuple>

#include "trace/conformance/checked_trace.hpp"
#include "trace/conformance/one_point_capture.hpp"

namespace announced_psn_test {

using namespace conformance_test;
using conformance_test::back;
using conformance_test::there;

constexpr Endpoint active{.comm_id = 7, .qpn = back.qpn, .psn = 500};
constexpr Endpoint passive{.comm_id = 8, .qpn = there.qpn, .psn = 100};

template <typename Capture>
void connect(Capture& capture) {
    capture.pass(cm_packet(there, connect_request(active, 3)));
    capture.pass(cm_packet(back, connect_reply(passive, active.comm_id)));
}

TEST(AnnouncedPsn, is_that_of_the_first_request) {
    OnePointCapture capture;
    connect(capture);
    capture.pass(send_one(100));
    capture.pass(acknowledge(100, 1));
    EXPECT_EQ(capture.result(), " / , 0");
    EXPECT_TRUE(capture.half().is_told);
    EXPECT_FALSE(capture.half().began_in_the_middle);
}

// Those before it may be missing, unless the capture is the requester's.
TEST(AnnouncedPsn, is_before_the_first_request) {
    for (const auto& [at_requester, expected] :
         {std::pair(false, " / psn-skipped, 0"), std::pair(true, "psn-skipped / , 0")}) {
        OnePointCapture capture;
        connect(capture);
        capture.pass(send_one(116));
        capture.pass(nak(100, 0));
        capture.pass(send_one(117));
        EXPECT_EQ(at_requester ? capture.result_at_requester() : capture.result(), expected);
        EXPECT_EQ(capture.half().first_psn, wire::Psn(116));
        EXPECT_FALSE(capture.half().is_told);
        EXPECT_FALSE(capture.half().began_in_the_middle);
        EXPECT_EQ(capture.half().repeated, 0U);
    }
    Trace trace{std::nullopt};
    connect(trace);
    trace.pass(send_one(116));
    trace.pass(nak(100, 0));
    EXPECT_EQ(codes(trace.report()), "psn-skipped");
}

// No packet that is missing explains it. The responder acknowledges what it takes for copies.
TEST(AnnouncedPsn, is_behind_the_first_request) {
    OnePointCapture capture;
    connect(capture);
    capture.pass(send_one(84));
    capture.pass(acknowledge(99, 0));
    capture.pass(send_one(85));
    capture.pass(acknowledge(99, 0));
    EXPECT_EQ(capture.result(), "first-psn / , 0");
    EXPECT_EQ(capture.half().repeated, 0U);
    EXPECT_FALSE(capture.half().began_in_the_middle);
}

TEST(AnnouncedPsn, far_from_the_first_request_is_that_of_earlier_ones) {
    for (const auto& [first, began_in_the_middle] :
         {std::tuple(100 + 65'536U, false), std::tuple(100 + 65'537U, true)}) {
        OnePointCapture capture;
        connect(capture);
        capture.pass(send_one(first));
        capture.pass(acknowledge(first, 9));
        capture.result();
        EXPECT_EQ(capture.half().began_in_the_middle, began_in_the_middle) << first;
    }
}

// A device begins with the PSN of the log: the capture began later.
TEST(AnnouncedPsn, in_a_log_is_that_of_earlier_requests) {
    Trace trace{100};
    trace.pass(send_one(116));
    trace.pass(acknowledge(116, 17));
    const auto report = trace.report();
    EXPECT_EQ(codes(report), "");
    EXPECT_TRUE(report.connections[0].forward.began_in_the_middle);
}

}  // namespace announced_psn_test

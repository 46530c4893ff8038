// Connections that neither the connection manager nor a run log describes.
#include "trace/conformance/checked_trace.hpp"

namespace {

using namespace conformance_test;
using conformance_test::back;

TEST(UntoldConnection, is_paired_by_its_psns) {
    Trace trace{std::nullopt};
    trace.pass(send_one(500));
    trace.pass(acknowledge(500, 1));
    trace.pass(send_one(501));
    trace.pass(acknowledge(501, 2));
    const auto report = trace.report();
    EXPECT_EQ(codes(report), "");
    ASSERT_EQ(report.connections.size(), 1U);
    EXPECT_EQ(report.connections[0].pairing, flow::Pairing::AckGuess);
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
    // The first packet is an ACK, so the requests are in the backward direction.
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

// The NAK names what the responder expects: the copies of 102 and 103 that it had dropped are none of
// the requests that it executes later.
TEST(UntoldConnection, whose_first_packets_were_lost_begins_with_the_nak) {
    Trace trace{std::nullopt};
    trace.pass(write_part(100, 2, 3));
    trace.pass(nak(101, 7));
    trace.pass(send_one(103));
    trace.pass(write_part(100, 1, 3));
    trace.pass(write_part(100, 2, 3));
    trace.lose(send_one(103));
    trace.pass(send_one(104));
    trace.pass(acknowledge(102, 8));
    trace.pass(nak(103, 8));
    trace.pass(send_one(103));
    trace.pass(send_one(104));
    trace.pass(acknowledge(103, 9));
    trace.pass(acknowledge(104, 10));
    // The requester sends 101 again, which the trace does not have before.
    EXPECT_EQ(codes(trace.report()), "resend-without-cause");
}

}  // namespace

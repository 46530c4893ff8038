// Packets that a host's own interface lost (netem) are on neither side of the link. Behaviour that
// a missing packet may explain does not count as a deviation.
#include "trace/conformance/checked_trace.hpp"

namespace {

using namespace conformance_test;

class MissingPackets : public CheckedTrace {
  protected:
    MissingPackets() { trace_.checker().packets_may_be_missing(); }

    void expect(const std::string& findings, const std::string& unknowable) {
        auto report = trace_.report();
        EXPECT_EQ(codes(report), findings);
        const auto& one = report.connections.front();
        EXPECT_EQ(one.forward.unknowable + one.backward.unknowable, report.unknowable.size());
        report.findings = report.unknowable;
        EXPECT_EQ(codes(report), unknowable);
    }
};

TEST_F(MissingPackets, explain_a_psn_that_is_left_out) {
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(send_one(2));
    trace_.pass(nak(1, 1));
    trace_.pass(send_one(1));
    trace_.pass(send_one(2));
    trace_.pass(acknowledge(2, 3));
    expect("", "psn-skipped");
}

// Cause and reaction are as predicted, but not the packet from which on the requester went back.
TEST_F(MissingPackets, leave_the_recovery_open_that_they_may_explain) {
    for (std::uint32_t psn = 0; psn < 2; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(1, 2));
    trace_.lose(send_one(2));
    trace_.pass(send_one(3));
    trace_.pass(nak(2, 2));
    for (std::uint32_t psn = 1; psn < 4; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(1, 2));
    trace_.pass(acknowledge(3, 4));
    const auto report = trace_.report();
    EXPECT_EQ(codes(report), "");
    ASSERT_EQ(report.unknowable.size(), 1U);
    EXPECT_EQ(report.unknowable[0].code, conformance::Code::ResendFrom);
    EXPECT_EQ(recoveries(report), "lost: NAK, undetermined");
}

TEST_F(MissingPackets, do_not_explain_an_ack_of_what_never_arrived) {
    trace_.pass(send_one(0));
    trace_.lose(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("ack-beyond", "");
}

TEST_F(MissingPackets, are_not_needed_where_all_is_seen) {
    write_all(0, 4);
    trace_.pass(acknowledge(3, 1));
    expect("", "");
}

}  // namespace

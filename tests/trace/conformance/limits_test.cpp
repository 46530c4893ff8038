// What a check does not keep is counted.
#include "trace/conformance/checked_trace.hpp"

namespace {

using namespace conformance_test;

// Of each further code, the first eight are kept.
TEST(Limits, findings_and_recoveries_beyond_them_are_counted) {
    constexpr std::size_t most = 20'000;
    Trace trace;
    trace.pass(send_one(0));
    trace.pass(acknowledge(0, 1));
    for (std::size_t i = 0; i < most + 3; ++i)
        trace.twice(acknowledge(0, 1));
    for (std::size_t i = 0; i < most + 2; ++i)
        trace.pass(response(0, 0, 1, 1));
    for (int i = 0; i < 9; ++i)
        trace.lose(nak(1, 1));
    const auto report = trace.report();
    EXPECT_EQ(report.findings.size(), most + 8);
    EXPECT_EQ(report.connections.at(0).findings(), most + 2 + 9);
    ASSERT_EQ(report.left_out.size(), 2U);
    for (const auto& one : report.left_out) {
        const bool is_nak = one.code == conformance::Code::NakWithoutCause;
        EXPECT_TRUE(is_nak || one.code == conformance::Code::ResponseWithoutRequest);
        EXPECT_EQ(one.count, is_nak ? 1U : 2U);
        EXPECT_FALSE(one.is_unknowable);
        EXPECT_TRUE(one.forward);
    }
    EXPECT_EQ(report.recoveries.size(), most);
    EXPECT_EQ(report.recoveries_left_out, 3U + 9);
}

}  // namespace

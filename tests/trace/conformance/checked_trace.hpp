// A hand-made trace, and what the check is to make of it.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "trace/conformance/trace.hpp"

namespace conformance_test {

class CheckedTrace : public testing::Test {
  protected:
    /// Packets of a WRITE, from the one with number `i` of `count` on.
    void write_from(std::uint32_t psn, std::uint32_t i, std::uint32_t count) {
        for (; i < count; ++i)
            trace_.pass(write_part(psn, i, count));
    }
    void write_all(std::uint32_t psn, std::uint32_t count) { write_from(psn, 0, count); }
    /// The same of a READ's answer.
    void respond(std::uint32_t psn, std::uint32_t from, std::uint32_t count, std::uint32_t msn) {
        for (std::uint32_t i = from; i < count; ++i)
            trace_.pass(response(psn, i, count, msn));
    }

    Trace trace_;
};

/// What the link emulator did, what followed, and that all of it is as specified: no finding anywhere.
class Recoveries : public CheckedTrace {
  protected:
    void expect(const std::string& recoveries) {
        report_ = trace_.report();
        EXPECT_EQ(codes(report_), "");
        EXPECT_EQ(conformance_test::recoveries(report_), recoveries);
        for (const auto& one : report_.recoveries)
            EXPECT_TRUE(one.predicted == one.seen || !one.resend) << one.prediction;
    }
    const conformance::Recovery& first() const { return report_.recoveries.front(); }

    conformance::Report report_;
};

/// Behaviour that the specification does not allow: each trace has exactly its finding.
class Deviations : public CheckedTrace {
  protected:
    void expect(const std::string& code, std::uint64_t frame) {
        const auto report = trace_.report();
        EXPECT_EQ(codes(report), code);
        for (const auto& finding : report.findings) {
            EXPECT_EQ(finding.frame, frame) << finding.text;
            EXPECT_TRUE(section(finding.code).starts_with("9."));
        }
        for (const auto& recovery : report.recoveries)
            EXPECT_NE(recovery.verdict, conformance::Verdict::Open);
        verdicts_ = recoveries(report);
    }

    std::string verdicts_;
};

}  // namespace conformance_test

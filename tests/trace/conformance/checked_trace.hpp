// A synthetic trace and the expected result of the check.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "trace/conformance/trace.hpp"

namespace conformance_test {

class CheckedTrace : public testing::Test {
  protected:
    /// Passes the packets of a WRITE of `count` packets, from packet `i` on.
    void write_from(std::uint32_t psn, std::uint32_t i, std::uint32_t count) {
        for (; i < count; ++i)
            trace_.pass(write_part(psn, i, count));
    }
    void write_all(std::uint32_t psn, std::uint32_t count) { write_from(psn, 0, count); }
    /// Passes the packets of a READ's response, from packet `from` on.
    void respond(std::uint32_t psn, std::uint32_t from, std::uint32_t count, std::uint32_t msn) {
        for (std::uint32_t i = from; i < count; ++i)
            trace_.pass(response(psn, i, count, msn));
    }

    Trace trace_;
};

/// Traces with events of the link emulator and a recovery that conforms to the specification: there
/// are no findings.
class Recoveries : public CheckedTrace {
  protected:
    void expect(const std::string& recoveries) {
        report_ = trace_.report();
        EXPECT_EQ(codes(report_), "");
        EXPECT_EQ(conformance_test::recoveries(report_), recoveries);
        for (const auto& one : report_.recoveries)
            EXPECT_TRUE(one.predicted == one.seen() || !one.resend) << one.prediction;
    }
    const conformance::Recovery& first() const { return report_.recoveries.front(); }

    conformance::Report report_;
};

/// Traces with behaviour that the specification does not allow: each must have exactly its finding.
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
            EXPECT_NE(recovery.verdict, conformance::Verdict::Undetermined);
        verdicts_ = recoveries(report);
    }

    std::string verdicts_;
};

}  // namespace conformance_test

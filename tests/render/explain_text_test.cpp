#include "render/explain_text.hpp"

#include <sstream>
#include <vector>

#include <gtest/gtest.h>

namespace explain_text_test {

std::string text_of(std::vector<explain::Cause> causes, bool shows_why = false) {
    explain::Explanation explanation;
    explanation.causes = std::move(causes);
    return render::explain_text(
        explanation, {.has_capture = true, .logs = 1, .shows_why = shows_why, .begin_ns = 0},
        util::TextStyle());
}

std::vector<std::string> lines_of(const explain::Cause& cause) {
    const std::string text = text_of({cause});
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

TEST(ExplainText, breaks_long_evidence_below_its_beginning) {
    explain::Cause cause{
        .code = explain::Code::Loss, .text = "packets were lost.", .evidence = {}, .where = ""};
    cause.cost_ns = 4'145'300'000;
    cause.add({.frame = 7, .role = "", .t_ns = 21'350'000, .text = "RC RDMA WRITE Only"});
    cause.add({.role = "client",
               .t_ns = 1'000'000,
               .text = "post_send  wr 0 RDMA_WRITE 20000 B → va 0x7fe19e4cce20 rkey 0x00004746  "
                       "PSN 0x6d0395 to 0x6d0399"});
    const auto lines = lines_of(cause);
    ASSERT_GE(lines.size(), 6U);
    EXPECT_EQ(lines[2], "   frame 7           0.021350  RC RDMA WRITE Only");
    EXPECT_EQ(lines[3].substr(0, 40), "   client     00:00:00.001000  post_send");
    for (const std::string& line : lines)
        EXPECT_LE(util::display_width(line), 100U) << line;
    const std::string below(31, ' ');
    EXPECT_EQ(lines[4].substr(0, 33), below + "wr");
    EXPECT_EQ(lines[5], below + "PSN 0x6d0395 to 0x6d0399");
    EXPECT_EQ(lines[6], "   Time lost: about 4.15 s.");
}

TEST(ExplainText, says_why_a_cause_is_certain_if_asked) {
    explain::Cause cause{.code = explain::Code::WrongRkey,
                         .certainty = explain::Certainty::Certain,
                         .text = "the rkey is wrong.",
                         .evidence = {},
                         .where = ""};
    cause.excluded.push_back({explain::Code::OtherPd, "both are in protection domain 1"});
    const std::string line = "   Not other-pd: both are in protection domain 1.\n";
    EXPECT_EQ(text_of({cause}).find(line), std::string::npos);
    EXPECT_NE(text_of({cause}, true).find(line), std::string::npos);
    cause.consider(explain::Code::OutOfBounds, std::nullopt);
    cause.consider(explain::Code::Deregistered, std::nullopt);
    const std::string shown = text_of({cause}, true);
    EXPECT_NE(shown.find(line + "   Not excluded: out-of-bounds, deregistered.\n"),
              std::string::npos)
        << shown;
    EXPECT_NE(shown.find("1. wrong-rkey (likely"), std::string::npos) << shown;
    cause.excluded.clear();
    cause.open.clear();
    cause.certainty = explain::Certainty::Certain;
    EXPECT_NE(text_of({cause}, true).find("No other known cause has this evidence."),
              std::string::npos);
}

TEST(ExplainText, does_not_merge_rejections_with_different_reasons) {
    const explain::Cause one{.code = explain::Code::CmRejected,
                             .text = "the first reason.",
                             .evidence = {},
                             .where = "a"};
    explain::Cause other = one;
    other.where = "b";
    EXPECT_NE(text_of({one, other}).find("Also: b"), std::string::npos);
    other.text = "the second reason.";
    EXPECT_NE(text_of({one, other}).find("The second reason."), std::string::npos);
}

}  // namespace explain_text_test

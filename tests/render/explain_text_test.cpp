#include "render/explain_text.hpp"

#include <sstream>
#include <vector>

#include <gtest/gtest.h>

namespace explain_text_test {

std::vector<std::string> lines_of(const explain::Cause& cause) {
    explain::Explanation explanation;
    explanation.causes.push_back(cause);
    const std::string text = render::explain_text(
        explanation, {.has_capture = true, .logs = 1, .begin_ns = 0}, util::TextStyle());
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

}  // namespace explain_text_test

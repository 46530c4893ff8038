// Scripts rely on the codes of deviations: each has one row in the manual.
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trace/conformance/finding.hpp"

namespace {

using conformance::Code;

TEST(Codes, are_different_and_documented_with_their_sections) {
    std::ifstream file("docs/rocecap.md");
    std::stringstream text;
    text << file.rdbuf();
    std::set<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(Code::Last); ++i) {
        const auto code = static_cast<Code>(i);
        EXPECT_TRUE(names.insert(name(code)).second) << name(code);
        EXPECT_NE(text.str().find(fmt::format("\n| `{}` | {} | ", name(code), section(code))),
                  std::string::npos)
            << name(code);
    }
}

// A capture that may lack packets shows these all the same.
TEST(Codes, that_no_missing_packet_explains_are_those_of_the_manual) {
    std::ifstream file("docs/rocecap.md");
    std::stringstream text;
    text << file.rdbuf();
    std::string expected;
    for (int i = 0; i <= static_cast<int>(Code::Last); ++i)
        if (const auto code = static_cast<Code>(i); !may_be_a_missing_packet(code))
            expected += fmt::format(" `{}`", name(code));
    const std::string all = text.str();
    const std::size_t begin = all.find("With `--lossy`,"), end = all.find("remain deviations.");
    ASSERT_LT(begin, end);
    std::istringstream words(all.substr(begin, end - begin));
    std::string listed;
    for (std::string word; words >> word;)
        if (word.starts_with('`') && !word.starts_with("`--"))
            listed += ' ' + word.substr(0, word.rfind('`') + 1);
    EXPECT_EQ(listed, expected);
}

}  // namespace

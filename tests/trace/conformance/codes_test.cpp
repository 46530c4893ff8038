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

}  // namespace

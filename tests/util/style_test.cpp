#include "util/style.hpp"

#include <gtest/gtest.h>

namespace style_test {

using util::TextRole;
using util::TextStyle;

// ECMA-48, 8.3.117.
TEST(TextStyle, each_role_has_its_sequence) {
    struct Case {
        TextRole role;
        std::string_view before;
    };
    for (const Case& one : {Case{TextRole::Dim, "\033[2m"},
                            {TextRole::Request, "\033[36m"},
                            {TextRole::Response, "\033[32m"},
                            {TextRole::Connection, "\033[35m"},
                            {TextRole::Notice, "\033[33m"},
                            {TextRole::Bad, "\033[1;31m"},
                            {TextRole::Server, "\033[34m"},
                            {TextRole::Client, "\033[33m"}}) {
        const TextStyle coloured(true);
        EXPECT_EQ(coloured.before(one.role), one.before);
        EXPECT_EQ(coloured.after(one.role), "\033[0m");
        EXPECT_EQ(coloured(one.role, "text"), std::string(one.before) + "text\033[0m");
        EXPECT_EQ(coloured(one.role, ""), "");
        EXPECT_EQ(TextStyle()(one.role, "text"), "text");
        EXPECT_EQ(TextStyle().after(one.role), "");
    }
    EXPECT_EQ(TextStyle(true)(TextRole::Plain, "text"), "text");
}

TEST(DisplayWidth, counts_characters_without_escape_sequences) {
    EXPECT_EQ(util::display_width(""), 0U);
    EXPECT_EQ(util::display_width("abc"), 3U);
    EXPECT_EQ(util::display_width("a → ±"), 5U);
    EXPECT_EQ(util::display_width("\033[1;31mab\033[0mc"), 3U);
    EXPECT_EQ(util::display_width("\033[33m"), 0U);
}

TEST(Padded, adds_spaces_up_to_the_width) {
    EXPECT_EQ(util::padded("ab", 4), "ab  ");
    EXPECT_EQ(util::padded("→", 3), "→  ");
    EXPECT_EQ(util::padded("abcd", 4), "abcd");
    EXPECT_EQ(util::padded("abcde", 4), "abcde");
}

TEST(Wrapped, breaks_at_spaces_before_the_width_is_exceeded) {
    EXPECT_EQ(util::wrapped("ab cd ef", 8, 0), "ab cd ef");
    EXPECT_EQ(util::wrapped("ab cd ef", 7, 0), "ab cd\nef");
    EXPECT_EQ(util::wrapped("ab cd ef", 5, 2), "ab cd\n  ef");
    EXPECT_EQ(util::wrapped("abcdefgh ij", 5, 0), "abcdefgh\nij");
    EXPECT_EQ(util::wrapped("a bcdefgh", 5, 0), "a\nbcdefgh");
    EXPECT_EQ(util::wrapped("ab cd ef", 3, 3), "ab cd ef") << "no room beside the indent";
    EXPECT_EQ(util::wrapped("abcd ef gh", 6, 3), "abcd\n   ef\n   gh");
    EXPECT_EQ(util::wrapped("ab cd ef", 4, 2), "ab\n  cd\n  ef")
        << "a first word as wide as the indent";
}

TEST(Wrapped, keeps_a_group_after_two_spaces_together_if_it_fits_on_a_line) {
    EXPECT_EQ(util::wrapped("ab  cd ef  gh", 10, 0), "ab  cd ef\ngh");
    EXPECT_EQ(util::wrapped("ab  cd ef", 8, 0), "ab\ncd ef");
    EXPECT_EQ(util::wrapped("ab  cd ef gh ij", 8, 0), "ab  cd\nef gh ij");
}

TEST(Wrapped, continues_a_line_below_the_beginning_of_the_text) {
    EXPECT_EQ(util::continued("ab cd ef", 8, 3), "ab cd\n   ef");
    EXPECT_EQ(util::continued("ab cd ef", 11, 3), "ab cd ef");
    EXPECT_EQ(util::continued("ab", 3, 3), "ab");
}

}  // namespace style_test

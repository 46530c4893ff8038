#include "util/printable.hpp"

#include <gtest/gtest.h>

namespace printable_test {

using util::printable;
using util::printable_lines;

TEST(Printable, passes_what_is_shown_as_itself) {
    EXPECT_EQ(printable(""), "");
    EXPECT_EQ(printable("wr 1 → 0x7f, µs, Grüße, 日本, 🙂 \\x1b"),
              "wr 1 → 0x7f, µs, Grüße, 日本, 🙂 \\x1b");
}

TEST(Printable, escapes_control_characters) {
    EXPECT_EQ(printable(std::string_view("\0\a\b\t\n\v\f\r\x1b\x1f\x7f", 11)),
              "\\x00\\x07\\x08\\t\\n\\x0b\\x0c\\r\\x1b\\x1f\\u007f");
    EXPECT_EQ(printable("\u0080\u009b2J\u009f\u00a0"), "\\u0080\\u009b2J\\u009f\u00a0");
}

TEST(Printable, escapes_invisible_and_bidirectional_format_characters) {
    for (const auto& [text, escaped] : {std::pair{"\u200b", "\\u200b"},
                                        {"\u200e", "\\u200e"},
                                        {"\u200f", "\\u200f"},
                                        {"\u2028", "\\u2028"},
                                        {"\u202a", "\\u202a"},
                                        {"\u202e", "\\u202e"},
                                        {"\u2066", "\\u2066"},
                                        {"\u2069", "\\u2069"},
                                        {"\u061c", "\\u061c"},
                                        {"\ufeff", "\\ufeff"},
                                        {"\U000e0041", "\\udb40\\udc41"}})
        EXPECT_EQ(printable(std::string("a") + text + "b"), std::string("a") + escaped + "b");
}

TEST(Printable, escapes_each_byte_of_invalid_utf8) {
    EXPECT_EQ(printable("a\xff\x80z"), "a\\xff\\x80z");
    EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");                    // overlong
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
    EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                    // cut off
    EXPECT_EQ(printable("\xe2\x82\x1b"), "\\xe2\\x82\\x1b");
    EXPECT_EQ(printable("\xc2\xc2\xb5"), "\\xc2µ");
}

TEST(Printable, does_not_escape_its_own_output) {
    const std::string once = printable("\x1b]0;x\a\u202e\xff\n");
    EXPECT_EQ(printable(once), once);
}

TEST(PrintableLines, pass_line_feeds_tabs_and_colours_and_nothing_else) {
    EXPECT_EQ(printable_lines("\x1b[1;31mbad\x1b[0m\tb\n"), "\x1b[1;31mbad\x1b[0m\tb\n");
    EXPECT_EQ(printable_lines("\x1b[m"), "\x1b[m");
    EXPECT_EQ(printable_lines("\x1b[2J\x1b[31\x1b]0;x\a\x1b[?1m\r\x1b"),
              "\\x1b[2J\\x1b[31\\x1b]0;x\\x07\\x1b[?1m\\r\\x1b");
}

TEST(Printable, knows_which_lines_pass_as_they_are) {
    const auto agrees = [](const std::string& text) {
        return util::are_printable_lines(text) == (printable_lines(text) == text);
    };
    for (unsigned byte = 0; byte <= 0xff; ++byte)
        EXPECT_TRUE(agrees("line " + std::string(1, static_cast<char>(byte)) + " end\n")) << byte;
    for (const char* text : {"", "→ µs\n", "\x1b[1;31mred\x1b[0m\n", "\x1b[2J", "\u202e",
                             "a\tb\r\n", "\xe2\x86", "cut \xf0\x9f"})
        EXPECT_TRUE(agrees(text)) << text;
    EXPECT_TRUE(util::are_printable_lines("client → server\n"));
    EXPECT_FALSE(util::are_printable_lines("client \x1b[2J server\n"));
}

}  // namespace printable_test

#include "util/json_text.hpp"

#include <gtest/gtest.h>

#include "util/json.hpp"

namespace json_text_test {

std::string as_json(std::string_view text) {
    std::string out;
    util::Composer composer(out);
    util::append_json_string(composer, text);
    composer.flush();
    return out;
}

TEST(JsonText, plain_text_stands_as_it_is) {
    EXPECT_EQ(as_json(""), R"("")");
    EXPECT_EQ(as_json("RC RDMA WRITE Only"), R"("RC RDMA WRITE Only")");
    EXPECT_EQ(as_json("TCP 45678 → 18515"), R"("TCP 45678 → 18515")");
}

TEST(JsonText, what_json_does_not_allow_is_escaped) {
    EXPECT_EQ(as_json("a\"b\\c\n\r\t\x01\x1f\x7f"), R"("a\"b\\c\n\r\t\u0001\u001f\u007f")");
    EXPECT_EQ(as_json(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(JsonText, a_byte_outside_of_utf_8_becomes_a_replacement_character) {
    EXPECT_EQ(as_json("a\xff"
                      "b\xc3"),
              "\"a\xef\xbf\xbd"
              "b\xef\xbf\xbd\"");
    EXPECT_EQ(as_json("\xed\xa0\x80"), as_json("\xff\xff\xff")) << "a surrogate";
}

// The writer processes eight bytes at a time, so each byte is tested at each position.
TEST(JsonText, each_byte_is_read_back_at_every_place) {
    for (unsigned byte = 0; byte < 0x80; ++byte)
        for (std::size_t at = 0; at < 20; ++at) {
            std::string text(20, 'x');
            text[at] = static_cast<char>(byte);
            EXPECT_EQ(util::Json::parse(as_json(text)), text) << byte << " at " << at;
        }
}

TEST(JsonText, a_text_longer_than_the_composer_is_whole) {
    const std::string text = std::string(3000, 'a') + '\n' + std::string(3000, 'b');
    EXPECT_EQ(util::Json::parse(as_json(text)), text);
}

}  // namespace json_text_test

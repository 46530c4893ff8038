// The layout of an option: code (2 bytes), length (2), value, padding to four bytes (pcapng, 3.5).
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "capture/pcapng_block.hpp"

namespace pcapng_option_test {

// Returns the text of a block's only option.
std::string written(const std::string& text) {
    capture::PcapngBlock block;
    const auto bytes = block.start(6).option(1, text).finish();
    constexpr std::size_t length_at = 10;
    std::uint16_t length = 0;
    std::memcpy(&length, bytes.data() + length_at, sizeof length);
    EXPECT_EQ(bytes.size() % 4, 0U);
    return {reinterpret_cast<const char*>(bytes.data()) + length_at + sizeof length, length};
}

TEST(PcapngOption, text_is_cut_at_the_end_of_a_character) {
    const std::string most(65535, 'a');
    EXPECT_EQ(written("abc"), "abc");
    EXPECT_EQ(written(most), most);
    EXPECT_EQ(written(most + "b"), most);
    // The arrow has three bytes.
    EXPECT_EQ(written(most.substr(3) + "→"), most.substr(3) + "→");
    EXPECT_EQ(written(most.substr(2) + "→"), most.substr(2));
    EXPECT_EQ(written(most.substr(1) + "→"), most.substr(1));
    EXPECT_EQ(written(most + "→"), most);
}

// Each byte continues a character (RFC 3629, 3).
TEST(PcapngOption, text_without_the_beginning_of_a_character_is_cut_as_a_whole) {
    const std::string most(65535, '\x80');
    EXPECT_EQ(written(most).size(), most.size());
    EXPECT_EQ(written(most + '\x80').size(), 0U);
}

}  // namespace pcapng_option_test

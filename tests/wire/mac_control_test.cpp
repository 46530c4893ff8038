#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"
#include "wire/text/other.hpp"

namespace mac_control_test {

using wire_test::from_hex;

std::vector<std::byte> frame(std::string_view control) {
    auto bytes = from_hex("0180c2000001 020000000002 8808");
    const auto content = from_hex(control);
    bytes.insert(bytes.end(), content.begin(), content.end());
    return bytes;
}

std::string text_of(std::string_view control) {
    const auto bytes = frame(control);
    const auto packet = wire::decode(bytes, wire::LinkType::Ethernet);
    EXPECT_EQ(packet.not_roce, wire::NotRoce::MacControl);
    return wire::other_summary(packet, bytes);
}

TEST(MacControl, pfc_names_each_priority_with_its_quanta) {
    EXPECT_EQ(text_of("0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000"),
              "PFC pause priority 3: 65535 quanta");
    EXPECT_EQ(text_of("0101 0018 0000 0000 0000 0000 0000 0000 0000 0000"),
              "PFC resume priority 3, 4");
    EXPECT_EQ(text_of("0101 0089 0064 ffff 0000 0000 0000 0000 0000 0064"),
              "PFC pause priority 0, 7: 100 quanta, resume priority 3");
    EXPECT_EQ(text_of("0101 0000 ffff 0000 0000 0000 0000 0000 0000 0000"),
              "PFC without a priority");
}

TEST(MacControl, pause_of_the_whole_link) {
    EXPECT_EQ(text_of("0001 0100"), "PAUSE 256 quanta");
    EXPECT_EQ(text_of("0001 0000"), "PAUSE resume");
    EXPECT_EQ(text_of("0002 0000"), "MAC control opcode 0x0002");
}

TEST(MacControl, every_prefix_is_cut_or_malformed) {
    const auto whole = frame("0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const wire_test::ExactCopy copy(util::Bytes(whole).first(size));
        EXPECT_TRUE(wire::decode(copy, wire::LinkType::Ethernet, whole.size()).truncated);
        EXPECT_TRUE(wire::decode(copy, wire::LinkType::Ethernet).malformed);
        EXPECT_FALSE(wire::decode(copy, wire::LinkType::Ethernet).mac_control);
    }
}

}  // namespace mac_control_test

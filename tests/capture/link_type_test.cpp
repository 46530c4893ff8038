#include "capture/link_type.hpp"

#include <gtest/gtest.h>

namespace link_type_test {

using wire::LinkType;

// https://www.tcpdump.org/linktypes.html
TEST(CaptureLinkType, has_the_registrys_number) {
    EXPECT_EQ(capture::linktype_number(LinkType::Ethernet), 1);
    EXPECT_EQ(capture::linktype_number(LinkType::RawIp), 101);
    EXPECT_EQ(capture::linktype_number(LinkType::LinuxCooked), 113);
    EXPECT_EQ(capture::linktype_number(LinkType::LinuxCooked2), 276);
    EXPECT_EQ(capture::linktype_number(LinkType::Infiniband), 247);
    EXPECT_EQ(capture::linktype_number(LinkType::Erf), 197);
}

TEST(CaptureLinkType, only_numbers_that_are_decoded_have_a_type) {
    for (int number = 0; number < 300; ++number) {
        const auto expected = number == 1     ? std::optional(LinkType::Ethernet)
                              : number == 113 ? std::optional(LinkType::LinuxCooked)
                              : number == 276 ? std::optional(LinkType::LinuxCooked2)
                              : number == 247 ? std::optional(LinkType::Infiniband)
                              : number == 197 ? std::optional(LinkType::Erf)
                              : number == 12 || number == 101 || number == 228 || number == 229
                                  ? std::optional(LinkType::RawIp)
                                  : std::nullopt;
        EXPECT_EQ(capture::link_type_of_number(number), expected) << number;
    }
}

}  // namespace link_type_test

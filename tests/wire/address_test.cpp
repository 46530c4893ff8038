#include "wire/address.hpp"

#include <arpa/inet.h>
#include <random>

#include <gtest/gtest.h>

namespace address_test {

using wire::Ipv6Address;

TEST(WireAddress, of_a_station_is_lower_case_with_both_digits) {
    EXPECT_EQ(text(wire::MacAddress{{0x24, 0x8a, 0x07, 0xa8, 0xfa, 0x00}}), "24:8a:07:a8:fa:00");
}

TEST(WireAddress, of_ipv4_is_decimal) {
    EXPECT_EQ(text(wire::Ipv4Address{{192, 0, 2, 1}}), "192.0.2.1");
    EXPECT_EQ(text(wire::Ipv4Address{{255, 255, 255, 255}}), "255.255.255.255");
}

// RFC 5952, section 4.
TEST(WireAddress, of_ipv6_is_as_short_as_it_can_be) {
    EXPECT_EQ(text(Ipv6Address{}), "::");
    EXPECT_EQ(text(Ipv6Address{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}),
              "2001:db8::1");
    EXPECT_EQ(text(Ipv6Address{{0x20, 0x01, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}}),
              "2001:0:0:1::1")
        << "the longest run of zeros";
    EXPECT_EQ(text(Ipv6Address{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                0xff, 0xff, 0xff, 0xff, 0xff}}),
              "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
        << "the longest text";
}

// Each group is zero, short or full, so that zero runs of every length and position occur.
TEST(WireAddress, of_ipv6_is_what_the_c_library_writes) {
    std::mt19937_64 random(5);  // NOLINT(cert-msc51-cpp): the same addresses in every run
    for (int i = 0; i < 20'000; ++i) {
        Ipv6Address address;
        for (std::size_t group = 0; group < address.bytes.size(); group += 2) {
            const auto bits = random();
            address.bytes[group] = bits % 4 < 3 ? 0 : static_cast<std::uint8_t>(bits >> 8U);
            address.bytes[group + 1] =
                bits / 4 % 3 < 2 ? 0 : static_cast<std::uint8_t>(bits >> 16U);
        }
        if (i % 8 == 0)
            std::fill_n(address.bytes.begin(), i % 16 == 0 ? 12 : 10, std::uint8_t{0});
        if (i % 32 == 8)
            address.bytes[10] = address.bytes[11] = 0xff;
        std::array<char, INET6_ADDRSTRLEN> expected{};
        inet_ntop(AF_INET6, address.bytes.data(), expected.data(), expected.size());
        EXPECT_EQ(text(address), expected.data());
    }
}

TEST(WireAddress, a_gid_of_an_ipv4_address_shows_it) {
    EXPECT_EQ(text(wire::Gid{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1}}),
              "::ffff:192.0.2.1");
}

TEST(WireAddress, is_read_from_and_written_at_its_offset) {
    std::array<std::byte, 8> header{};
    header.fill(std::byte{0xee});
    const wire::Ipv4Address address{{192, 0, 2, 1}};
    address.put<3>(std::span(header));
    EXPECT_EQ((wire::Ipv4Address::at<3>(util::FixedBytes<8>(header))), address);
    EXPECT_EQ(util::be64<0>(util::FixedBytes<8>(header)), 0xeeeeeec0000201eeU);
}

TEST(WireAddress, is_ordered_as_on_the_wire) {
    EXPECT_LT((wire::Ipv4Address{{10, 0, 0, 255}}), (wire::Ipv4Address{{10, 0, 1, 0}}));
    EXPECT_LT((wire::Ipv4Address{{10, 0, 0, 0}}), (wire::Ipv4Address{{192, 0, 0, 0}}));
}

}  // namespace address_test
